import SessionCore

/// The data that is kept of an address: its error, and what decides how long the error counts.
struct Sighting: Hashable, Sendable {
  /// The error; `nil` if the address states none.
  let problem: WebSignInProblem?
  private let place: Place
  /// A hash of the page's address without its fragment.
  ///
  /// The address cannot be derived from it.
  private let page: Int

  private enum Place: Hashable {
    /// A web page.
    case page
    /// The app's own scheme, at which the page ends.
    case redirect
    /// No page, such as `about:blank`.
    case nowhere
  }

  init(_ address: String) {
    problem = RedirectReader.problem(in: address)
    let start = address.utf8.prefix { $0 != UInt8(ascii: "#") }
    page = Array(start).hashValue
    guard let colon = start.prefix(64).firstIndex(of: UInt8(ascii: ":")),
      start[colon...].starts(with: "://".utf8)
    else {
      place = .nowhere
      return
    }
    let scheme = String(decoding: start[..<colon], as: UTF8.self).lowercased()
    place = scheme == "http" || scheme == "https" ? .page : .redirect
  }

  /// Returns the sighting that counts after another address is seen.
  ///
  /// - A newer error replaces an older one.
  /// - A page without an error withdraws an older error, because the user continued.
  /// - Only another redirect withdraws the error of the app's own redirect. After it, a view may
  ///   show the earlier page again.
  /// - The same page with another fragment withdraws nothing, and neither does an address that is
  ///   no page.
  static func retained(_ before: Sighting?, then next: Sighting) -> Sighting? {
    guard let before, next.place != .nowhere || next.problem != nil else {
      return next.problem == nil ? before : next
    }
    guard before.place != .redirect || next.place == .redirect else { return before }
    guard next.problem == nil else { return next }
    return before.page == next.page ? before : nil
  }
}
