import Foundation
@_spi(Internals) import SessionCore

/// The rules of calls, prepared so that a call costs one comparison of bytes.
struct CallMap: Sendable {
  private struct Place: Sendable {
    /// The origin, such as `https://api.school.test`, in lower case and without the default port.
    let origin: [UInt8]
    let isSecure: Bool
  }

  /// A pattern of calls that carry no token.
  fileprivate struct Exemption: Hashable, Sendable {
    /// The method; `nil` for any method.
    var method: String?
    /// The normalised origin and path.
    var address: [UInt8]
    /// Whether every path with this prefix matches.
    var isBeginning = false
    /// The query; `nil` for any query.
    var query: [UInt8]?
  }

  /// The result of the rules for an address, before the caller's mark is considered.
  private enum Finding {
    case foreign
    case exempt(isSecure: Bool)
    case own(isSecure: Bool)
  }

  /// The place of the token in calls.
  let token: CallTokenPlace
  /// The place of the token in the backend's own requests, if it is in none of them where calls
  /// have it; `nil` otherwise.
  let otherPlace: CallTokenPlace?
  /// The maximum size of a response's body, in bytes; `nil` for no limit.
  let maximumResponseSize: Int?
  /// The time limit of one attempt; `nil` for no limit.
  let timeout: Duration?
  /// The limit of refreshes that refused calls may cause.
  let window: RefreshWindow?
  /// Proves that the session holds its token; `nil` if its tokens are bearer tokens.
  let proof: ProofOfPossession?
  /// The header fields that are never sent to another origin after a redirect.
  let credentialFields: [String]

  private let places: [Place]
  private let exemptions: [Exemption]
  /// Whether any pattern has a query.
  private let readsQueries: Bool
  private let tellingStatuses: [ClosedRange<Int>]
  private let attempts: UInt32
  /// Returns the failure of the token or of the user's account that a response states.
  private let reading: @Sendable (CallResponse) -> RequestFailure?

  /// Creates a map of the rules, with the defaults of the backend if it has any.
  init(_ rules: CallRules, _ backend: any AuthBackend) {
    let traits = backend.traits
    let defaults = traits.calls?() ?? CallDefaults(codes: backend.errorCodes)
    (token, proof) = (rules.token, traits.proof)
    let isCommon = defaults.tokenPlaces.contains { $0.isSame(as: rules.token) }
    otherPlace = isCommon ? nil : defaults.tokenPlaces.first
    (maximumResponseSize, timeout) = (rules.maximumResponseSize, rules.timeout)
    window = rules.refreshWindow
    // RFC 9110 §15.4. An app may set them itself.
    var fields = ["Authorization", "Cookie", "Proxy-Authorization", "DPoP"]
    if case .header(let name, _) = rules.token { fields.append(name) }
    credentialFields = fields
    reading = defaults.failure
    let own = defaults.baseURL.map { [$0] }
    let bases = own ?? rules.origins
    places = ((own ?? []) + rules.origins).compactMap { url in
      CallAddress.origin(of: url).map {
        Place(origin: Array($0.utf8), isSecure: rules.allowsInsecure || url.isSecure)
      }
    }
    let paths = bases.flatMap { base in
      rules.publicPaths.compactMap { CallMap.exemption(ofPath: $0, below: base) }
    }
    exemptions =
      paths + CallMap.exemptions(ofEndpoints: defaults.endpoints, shared: rules.endpointsAreShared)
    readsQueries = exemptions.contains { $0.query != nil }
    tellingStatuses = defaults.tellingStatuses
    attempts = max(1, rules.attempts)
  }

  private static func exemption(ofPath pattern: String, below base: URL) -> Exemption? {
    let isBeginning = pattern.hasSuffix("*")
    let path = isBeginning ? String(pattern.dropLast()) : pattern
    guard let address = CallAddress(AddressPath.url(path, below: base)) else { return nil }
    var text = address.origin + address.path
    // The prefix of `auth/*` ends with a slash, so that it does not match `authors`.
    if path.isEmpty || path.hasSuffix("/"), !text.hasSuffix("/") { text += "/" }
    return Exemption(
      address: Array(text.utf8), isBeginning: isBeginning,
      query: address.query.map { Array($0.utf8) })
  }

  /// Returns the endpoints that calls leave alone, except those whose address is shared.
  ///
  /// - Requirement: INT-3, INT-5
  private static func exemptions(
    ofEndpoints endpoints: [CallDefaults.Endpoint], shared: Bool?
  ) -> [Exemption] {
    // The library's own requests do not come here, so an exemption only protects calls that an app
    // itself makes to these endpoints. A missing one costs little: the token's own server receives
    // a token that it does not need. A wrong one makes the call fail. So it is narrow, and a shared
    // address has none. `/auth/*` was public by default before: `GET /auth/me` was sent without its
    // token, and `POST /users` with it. A query counts only if an endpoint has one. Otherwise `POST
    // /auth/login?lang=es` would carry the token.
    let all = endpoints.compactMap { endpoint -> (isLeftAlone: Bool, exemption: Exemption)? in
      guard let address = CallAddress(endpoint.url) else { return nil }
      let exemption = Exemption(
        method: endpoint.method.uppercased(),
        address: Array((address.origin + address.path).utf8),
        query: address.query.map { Array($0.utf8) })
      return (endpoint.isLeftAlone, exemption)
    }
    return all.filter { entry in
      guard entry.isLeftAlone else { return false }
      return !(shared ?? (all.count { $0.exemption == entry.exemption } > 1))
    }
    .map(\.exemption)
  }

  /// Returns whether a response with this status may concern the token or the user's account.
  func mayTell(_ status: Int) -> Bool {
    for statuses in tellingStatuses where statuses.contains(status) { return true }
    return false
  }

  /// Returns the failure of the token or of the user's account that a response states; `nil` if it
  /// states none.
  func failure(_ response: CallResponse) -> RequestFailure? { reading(response) }

  func attempts(_ head: CallHead) -> UInt32 {
    attempts > 1 && head.isIdempotent ? attempts : 1
  }

  func target(_ head: CallHead, _ mark: CallMark) -> CallPlan.Target {
    guard mark != .plain, !head.isAuthorized else { return .plain }
    switch (finding(head), mark) {
    case (.foreign, .authenticated): return .foreign
    case (.foreign, _), (.exempt, .byRules): return .plain
    case (.exempt(let isSecure), _), (.own(let isSecure), _): return isSecure ? .own : .insecure
    }
  }

  /// Returns whether both addresses have the same origin.
  func sharesOrigin(_ one: URL, _ other: URL) -> Bool {
    guard let origin = CallAddress.origin(of: one) else { return false }
    return origin == CallAddress.origin(of: other)
  }

  private func finding(_ head: CallHead) -> Finding {
    guard let url = head.url else { return .foreign }
    // The text is compared as it is if it is already normal. Otherwise it is normalised first,
    // which costs more.
    var text = url.absoluteString
    if let found = text.withUTF8({ finding($0, head.method, isNormal: false) }) { return found }
    guard let address = CallAddress(url) else { return .foreign }
    var normal = address.origin + address.path + (address.query.map { "?\($0)" } ?? "")
    return normal.withUTF8 { finding($0, head.method, isNormal: true) } ?? .foreign
  }

  /// Returns `nil` if the text must be normalised first, or belongs to no origin of the token.
  private func finding(_ text: UnsafeBufferPointer<UInt8>, _ method: String, isNormal: Bool)
    -> Finding?
  {
    guard let place = place(of: text) else { return nil }
    let end = text.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? text.count
    let address = UnsafeBufferPointer(rebasing: text[..<end])
    var query: UnsafeBufferPointer<UInt8>?
    if readsQueries, end < text.count, text[end] == UInt8(ascii: "?") {
      let rest = text[(end + 1)...]
      query = UnsafeBufferPointer(
        rebasing: rest[..<(rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex)])
    }
    guard isNormal || CallMap.isNormal(address, after: place.origin.count, query) else {
      return nil
    }
    for exemption in exemptions where exemption.fits(address, query, method) {
      return .exempt(isSecure: place.isSecure)
    }
    return .own(isSecure: place.isSecure)
  }

  /// Returns the origin with which a text begins, if what follows cannot belong to the host or
  /// port.
  private func place(of text: UnsafeBufferPointer<UInt8>) -> Place? {
    for place in places where CallMap.begins(text, place.origin) {
      guard text.count > place.origin.count else { return place }
      switch text[place.origin.count] {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return place
      default: continue
      }
    }
    return nil
  }

  /// Returns whether normalisation would change nothing: the path is not empty and has no escape or
  /// dot segment.
  private static func isNormal(
    _ address: UnsafeBufferPointer<UInt8>, after origin: Int, _ query: UnsafeBufferPointer<UInt8>?
  ) -> Bool {
    guard address.count > origin, query?.contains(UInt8(ascii: "%")) != true else { return false }
    var last = UInt8(ascii: " ")
    for index in origin..<address.count {
      let byte = address[index]
      if byte == UInt8(ascii: "%") { return false }
      // This may be a dot segment, or a name such as `.well-known`.
      if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { return false }
      last = byte
    }
    return true
  }

  fileprivate static func begins(_ text: UnsafeBufferPointer<UInt8>, _ beginning: [UInt8]) -> Bool {
    guard text.count >= beginning.count else { return false }
    for index in beginning.indices where text[index] != beginning[index] { return false }
    return true
  }
}

extension CallMap.Exemption {
  fileprivate func fits(
    _ address: UnsafeBufferPointer<UInt8>, _ query: UnsafeBufferPointer<UInt8>?, _ method: String
  ) -> Bool {
    guard CallMap.begins(address, self.address), isBeginning || address.count == self.address.count
    else { return false }
    if let own = self.query {
      guard let query, query.elementsEqual(own) else { return false }
    }
    return self.method == nil || self.method == method.uppercased()
  }
}
