/// The tables of `Specs/Answers.md`, found by their headers.
enum AnswerTables {
  typealias Row = SpecPage.Row

  private static let page = SpecPage("Answers.md")

  static let failures = rows(["status", "body", "kind", "code kept"])
  static let standardCodes = rows(["code", "status", "standard", "oauth", "azureADB2C"])
  static let waits = rows(["Retry-After", "Date", "milliseconds"])
  static let resets = rows(["status", "fields", "body", "wait"])
  static let bodies = rows(["body", "at a refresh", "problem"])
  static let badMembers = rows(["at", "member", "value", "problem"])
  static let lifetimes = rows(["lifetime", "answer", "claims", "Date", "result"])
  static let calls = rows(["status", "body", "meaning"])
  static let interceptions = rows(["at", "status", "Content-Type", "body", "meaning"])
  static let redirects = rows(["Location", "code kept"])
  static let identifiers = rows(["identifier", "is"])
  static let lives = rows(["expires_in", "claims", "before", "life"])
  static let users = rows(["named by", "said then", "the response says", "it is of"])
  static let goodMembers = rows(["at", "member", "value"])

  /// The rows of the table with this header, or none if there is no such table.
  private static func rows(_ head: [String]) -> [Row] {
    page.rows(head).map { Row(cells: $0) }
  }
}
