/// The tables of `Specs/WebSignIn.md`, found by their headers.
enum WebSignInPage {
  private static let page = SpecPage("WebSignIn.md")

  /// The rows of the table with this header, or none if there is no such table.
  static func rows(_ head: [String]) -> [[String]] { page.rows(head) }
}
