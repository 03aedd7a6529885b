/// The tables of `Specs/WebSignIn.md`, by their heads.
enum WebSignInPage {
  private static let page = SpecPage("WebSignIn.md")

  /// The rows of the table with this head; none where there is no such table.
  static func rows(_ head: [String]) -> [[String]] { page.rows(head) }
}
