import Foundation
import SessionCore

/// The rules of calls, made ready for asking once per call.
struct CallMap: Sendable {
  private struct Place: Sendable {
    /// `https://api.school.test`, in small letters and without the usual port.
    let text: String
    let isSecure: Bool
  }

  private let places: [Place]
  /// Whole addresses without a query, as they are written.
  private let publicAddresses: Set<String>
  /// The same, of which all that follow are public.
  private let publicBeginnings: [String]
  private let refusals: [ClosedRange<Int>]
  private let attempts: UInt32

  init(_ rules: CallRules, _ wire: Wire) {
    places = ([wire.baseURL] + rules.origins).compactMap { url in
      CallMap.origin(of: url).map {
        Place(text: $0, isSecure: rules.allowsInsecure || url.isSecure)
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
    publicAddresses = addresses
    publicBeginnings = beginnings
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
    let text = url.absoluteString
    // As it is written, or else as it is meant; who writes otherwise pays for it.
    if let place = place(of: text) { return target(place, text) }
    guard let origin = CallMap.origin(of: url),
      let place = places.first(where: { $0.text == origin }),
      let address = CallMap.address(of: url)
    else { return .plain }
    return target(place, address)
  }

  /// Whether both addresses are of the same origin.
  func sharesOrigin(_ one: URL, _ other: URL) -> Bool {
    guard let origin = CallMap.origin(of: one) else { return false }
    return origin == CallMap.origin(of: other)
  }

  private func target(_ place: Place, _ text: String) -> CallPlan.Target {
    let address = text.prefix { $0 != "?" && $0 != "#" }
    if publicBeginnings.contains(where: address.hasPrefix) { return .plain }
    if publicAddresses.contains(String(address)) { return .plain }
    return place.isSecure ? .own : .insecure
  }

  /// The place that a text begins with, if what follows cannot be part of the host or port.
  private func place(of text: String) -> Place? {
    for place in places where text.utf8.starts(with: place.text.utf8) {
      let rest = text.utf8.dropFirst(place.text.utf8.count)
      switch rest.first {
      case nil, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return place
      default: continue
      }
    }
    return nil
  }

  /// Scheme, host and port; `nil` where a user name would make an `Authorization` of its own.
  private static func origin(of url: URL) -> String? {
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
