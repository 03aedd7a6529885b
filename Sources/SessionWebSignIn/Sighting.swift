import SessionCore

/// What of an address is kept: the error that it tells of, and what decides how long that stands.
struct Sighting: Hashable, Sendable {
  /// The error; `nil` where it tells of none.
  let problem: WebSignInProblem?
  private let place: Place
  /// Which page it is, without its fragment: a number, from which no address can be had.
  private let page: Int

  private enum Place: Hashable {
    /// A page of the web.
    case page
    /// The app's own scheme, at which the page ends.
    case redirect
    /// No page at all, such as `about:blank`.
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

  /// What stands once another address is seen.
  ///
  /// A newer error stands in place of an older one, and a page that says nothing withdraws it: the user went
  /// on. What the app's own redirect said is withdrawn by another redirect only: behind it a view may show
  /// the page before it again. The same page with another fragment, and what is no page, withdraw nothing.
  static func retained(_ before: Sighting?, then next: Sighting) -> Sighting? {
    guard let before, next.place != .nowhere || next.problem != nil else {
      return next.problem == nil ? before : next
    }
    guard before.place != .redirect || next.place == .redirect else { return before }
    guard next.problem == nil else { return next }
    return before.page == next.page ? before : nil
  }
}
