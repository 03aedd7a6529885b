import Foundation
import SessionCore

/// The rules of calls, made ready for asking once per call.
struct CallMap: Sendable {
  private struct Place: Sendable {
    /// `https://api.school.test`, in small letters and without the usual port.
    let origin: [UInt8]
    let isSecure: Bool
  }

  private let places: [Place]
  /// Whole addresses without a query, as they are written.
  private let publicAddresses: [[UInt8]]
  /// The same, of which all that begin so are public.
  private let publicBeginnings: [[UInt8]]
  private let refusals: [ClosedRange<Int>]
  private let attempts: UInt32

  init(_ rules: CallRules, _ wire: Wire) {
    places = ([wire.baseURL] + rules.origins).compactMap { url in
      CallMap.origin(of: url).map {
        Place(origin: Array($0.utf8), isSecure: rules.allowsInsecure || url.isSecure)
      }
    }
    var addresses: Set<String> = []
    var beginnings: [String] = []
    for endpoint in [Wire.Step.login, .refresh, .switchContext, .revocation] {
      guard let url = wire.endpoints[endpoint]?.url(below: wire.baseURL) else { continue }
      if let address = CallMap.address(of: url) { addresses.insert(address) }
    }
    for pattern in rules.publicPaths {
      let isOpen = pattern.hasSuffix("*")
      let path = isOpen ? String(pattern.dropLast()) : pattern
      guard var address = CallMap.address(of: WireEndpoint(path).url(below: wire.baseURL)) else {
        continue
      }
      // `/auth/*` is below `auth`, and not beside it.
      if path.isEmpty || path.hasSuffix("/"), !address.hasSuffix("/") { address += "/" }
      if isOpen { beginnings.append(address) } else { addresses.insert(address) }
    }
    publicAddresses = addresses.map { Array($0.utf8) }
    publicBeginnings = beginnings.map { Array($0.utf8) }
    refusals = wire.failures.filter {
      $0.meaning == .rejected && $0.steps?.contains(.call) != false
    }
    .map(\.statuses)
    attempts = max(1, rules.attempts)
  }

  /// Whether an answer of this status may say that the token is good for nothing.
  func mayRefuse(_ status: Int) -> Bool {
    for statuses in refusals where statuses.contains(status) { return true }
    return false
  }

  func attempts(_ head: CallHead) -> UInt32 {
    attempts > 1 && head.isIdempotent ? attempts : 1
  }

  func target(_ head: CallHead) -> CallPlan.Target {
    guard !head.isAuthorized, let url = head.url else { return .plain }
    return target(url)
  }

  func target(_ url: URL) -> CallPlan.Target {
    // As it is written, or else as it is meant; who writes otherwise pays for it.
    var text = url.absoluteString
    if let target = text.withUTF8(target) { return target }
    guard var address = CallMap.address(of: url) else { return .plain }
    return address.withUTF8(target) ?? .plain
  }

  /// Whether both addresses are of the same origin.
  func sharesOrigin(_ one: URL, _ other: URL) -> Bool {
    guard let origin = CallMap.origin(of: one) else { return false }
    return origin == CallMap.origin(of: other)
  }

  /// By the bytes of an address: this is asked with every call, and texts know too much to be fast.
  private func target(_ text: UnsafeBufferPointer<UInt8>) -> CallPlan.Target? {
    guard let place = place(of: text) else { return nil }
    let end = text.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    let address = UnsafeBufferPointer(rebasing: text[..<(end ?? text.count)])
    for beginning in publicBeginnings where CallMap.begins(address, beginning) { return .plain }
    for other in publicAddresses
    where other.count == address.count && CallMap.begins(address, other) {
      return .plain
    }
    return place.isSecure ? .own : .insecure
  }

  /// The place that a text begins with, if what follows cannot be part of the host or port.
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

  private static func begins(_ text: UnsafeBufferPointer<UInt8>, _ beginning: [UInt8]) -> Bool {
    guard text.count >= beginning.count else { return false }
    for index in beginning.indices where text[index] != beginning[index] { return false }
    return true
  }

  /// Scheme, host and port; `nil` where a user name would make an `Authorization` of its own.
  static func origin(of url: URL) -> String? {
    guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty,
      url.user == nil, url.password == nil
    else { return nil }
    let usual = ["https": 443, "http": 80][scheme]
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    guard let port = url.port, port != usual else { return "\(scheme)://\(name)" }
    return "\(scheme)://\(name):\(port)"
  }

  /// Origin and path as they are written.
  private static func address(of url: URL) -> String? {
    guard let origin = origin(of: url),
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    return origin + parts.percentEncodedPath
  }
}
