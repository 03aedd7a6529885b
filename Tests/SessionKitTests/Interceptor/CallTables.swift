/// The tables of `Specs/Calls.md`, found by their headers.
enum CallTables {
  typealias Row = SpecPage.Row

  private static let page = SpecPage("Calls.md")

  static let targets = rows(["backend at", "call", "Authorization", "marked", "the call is"])
  static let shared = rows(["endpoints", "shared", "call", "the call is"])
  static let bodies = page.rows(["member", "body", "is sent as"]).map { Row(cells: $0) }
  static let locations = page.rows(["Location", "leads to"]).map { Row(cells: $0) }
  static let methods = rows(["status", "method", "next"])
  static let window = rows(["at", "refused", "verdict", "told"])
  static let rules = rows(["target", "stage", "what happened", "the session shows", "next"])

  /// The rows of the table with this header, or none if there is no such table.
  private static func rows(_ head: [String]) -> [Row] {
    page.rows(head).map { Row(cells: $0.map { $0.filter { $0 != "`" } }) }
  }
}
