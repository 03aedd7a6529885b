import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Responses, row by row of Specs/Answers.md")
struct AnswerTableTests {
  typealias Row = AnswerTables.Row
  typealias Place = BackendBench.Place

  @Test("the tables have enough rows")
  func tables() {
    #expect(AnswerTables.failures.count >= 30)
    #expect(AnswerTables.standardCodes.count >= 20)
    #expect(AnswerTables.waits.count >= 10)
    #expect(AnswerTables.lifetimes.count >= 30)
    #expect(AnswerTables.calls.count >= 15)
    #expect(AnswerTables.resets.count >= 10)
    #expect(AnswerTables.bodies.count >= 15)
    #expect(AnswerTables.badMembers.count >= 25)
    #expect(AnswerTables.goodMembers.count >= 10)
    #expect(AnswerTables.interceptions.count >= 10)
    #expect(AnswerTables.redirects.count >= 6)
    #expect(AnswerTables.lives.count >= 8)
    #expect(AnswerTables.identifiers.count >= 10)
  }

  @Test(
    "LOG-3 LOG-7 REF-6 a status and a code give the failure in the table",
    arguments: AnswerTables.failures)
  func failure(row: Row) throws {
    let status = try #require(Int(row[0]))
    let kind = try #require(RequestFailure.Kind(word: row[2]))
    for place in Place.allCases {
      let found = try #require(place.failure(status: status, row[1]))
      #expect(
        found.failure
          == RequestFailure(
            kind: kind, status: UInt16(status), serverCode: row[3].isEmpty ? nil : row[3]))
      #expect(found.problem == nil)
    }
  }

  @Test(
    "REF-19 a code of a standard means what its RFC says, at each status and with each preset",
    arguments: AnswerTables.standardCodes)
  func standardCode(row: Row) throws {
    let url = try #require(URL(string: "https://id.test/token"))
    let presets: [HTTPBackend] = [
      BackendBench.wire, .oauth(token: url), .azureADB2C(url, clientID: "app", scope: "openid"),
    ]
    let error = row[0] == "…" ? #"{"message":"…"}"# : #""\#(row[0])""#
    for status in row[1].components(separatedBy: ", ").compactMap(Int.init) {
      let response = BackendBench.response(status: status, #"{"error":\#(error)}"#)
      for (preset, kind) in zip(presets, row.cells.dropFirst(2)) {
        #expect(preset.failure(.refresh, response)?.kind.description == kind, "\(status)")
      }
    }
  }

  @Test("LOG-3 Retry-After is read in seconds or as a date", arguments: AnswerTables.waits)
  func wait(row: Row) throws {
    var headers: [HTTPHeader] = []
    if !row[0].isEmpty { headers.append(HTTPHeader("retry-AFTER", row[0])) }
    if !row[1].isEmpty { headers.append(HTTPHeader("date", row[1])) }
    let expected = Int64(row[2])
    #expect((expected == nil) == (row[2] == "none"))
    for status in [429, 503] {
      let found = try #require(Place.refresh.failure(status: status, headers: headers, ""))
      #expect(found.failure.retryAfterMilliseconds == expected)
    }
  }

  @Test(
    "LOG-3 a wait is read from a page, and from the fields of a limiter",
    arguments: AnswerTables.resets)
  func reset(row: Row) throws {
    let headers = row[1].components(separatedBy: " / ").compactMap { field -> HTTPHeader? in
      let parts = field.components(separatedBy: ": ")
      return parts.count == 2 ? HTTPHeader(parts[0], parts[1]) : nil
    }
    let status = try #require(Int(row[0]))
    for place in Place.allCases {
      let found = try #require(place.failure(status: status, headers: headers, row[2]))
      let wait = found.failure.retryAfterMilliseconds
      #expect(wait.map { "\($0)" } ?? "none" == row[3])
    }
  }

  @Test(
    "LOG-3 REF-6 REF-7 an unreadable body gives the problem in the table, and a cut one no reply",
    arguments: AnswerTables.bodies)
  func body(row: Row) throws {
    let kind = try #require(RequestFailure.Kind(word: row[1]))
    for place in Place.allCases {
      for status in [200, 201, 204] {
        let found = RequestFailure(
          kind: place == .login ? .unreadable : kind, status: UInt16(status))
        #expect(
          place.failure(status: status, row[0].isEmpty && status == 201 ? " \r\n" : row[0])
            == AnswerFailure(failure: found, problem: row[2]))
      }
    }
  }

  @Test("LOG-3 a wrong member gives the problem in the table", arguments: AnswerTables.badMembers)
  func badMember(row: Row) throws {
    for place in try places(row) {
      #expect(place.failure(status: 200, spoiled(place, row, isRotated: false))?.problem == row[3])
    }
  }

  @Test(
    "REF-5 REF-7 a new token is kept although another member is wrong",
    arguments: AnswerTables.badMembers.filter { $0[1] != "access_token" })
  func besideToken(row: Row) throws {
    for place in [Place.refresh, .switched] where place == .refresh || row[1] != "refresh_token" {
      let good = place.members
      let found = try place.read(BackendBench.response(spoiled(place, row)))
      #expect("\"\(found.access.plaintext)\"" == good["access_token"])
      #expect(found.refresh == (row[1] == "refresh_token" ? nil : Secret("rt_next")))
      #expect(found.lifetimeMilliseconds == (row[1] == "expires_in" ? 300_000 : 3_600_000))
      #expect(found.user == (row[2].contains("\"u\"") ? UserProfile(id: "u") : nil))
      let isContext = row[1] == (place == .refresh ? "active_context" : "context")
      #expect((found.context == nil) == (isContext || place == .refresh))
    }
  }

  @Test(
    "REF-7 a token without a stated lifetime gets the one in the table",
    arguments: AnswerTables.lives)
  func lives(row: Row) throws {
    var wire = BackendBench.wire
    wire.tokenForm = .opaque
    let claims = row[1].isEmpty ? "opaque" : "h.\(LoopbackToken.base64URL(Array(row[1].utf8))).s"
    var members = Place.refresh.members
    members["access_token"] = "\"\(claims)\""
    members["expires_in"] = row[0] == "missing" ? nil : row[0]
    let body = BackendBench.response(BackendBench.object(members))
    let before = Int64(row[2]).map { Duration.milliseconds($0) }
    #expect((before == nil) == row[2].isEmpty)
    let context = RequestContext(lifetimeBefore: before)
    #expect("\(try wire.readRefresh(body, in: context).lifetimeMilliseconds)" == row[3])
    #expect("\(try wire.readSwitch(body, in: context).lifetimeMilliseconds)" == row[3])
  }

  @Test(
    "REF-6 a response from the network is not taken for the server's",
    arguments: AnswerTables.interceptions)
  func interception(row: Row) throws {
    let status = try #require(Int(row[1]))
    let headers = row[2].isEmpty ? [] : [HTTPHeader("content-type", row[2])]
    for word in row[0].split(separator: ",").map({ $0.filter { $0 != " " } }) {
      let step = try #require(HTTPBackend.Step.allCases.first { "\($0)" == word })
      let response = BackendBench.response(status: status, headers: headers, row[3])
      let failure = BackendBench.wire.failure(step, response)
      #expect(failure?.kind.description ?? "fine" == row[4], "\(word)")
      // The OAuth rules agree, except if they have no code for the failure.
      guard row[4] != "rejected" else { continue }
      var oauth = BackendBench.wire
      oauth.failures = FailureRule.oauth
      #expect(oauth.failure(step, response)?.kind.description ?? "fine" == row[4], "\(word)")
    }
  }

  @Test(
    "REF-6 a redirect says whether it leads to the same host", arguments: AnswerTables.redirects)
  func redirect(row: Row) throws {
    let backend = HTTPBackend.snakeCaseJSON(
      try #require(URL(string: "https://api.school.test:8443/v1")))
    let headers = row[0].isEmpty ? [] : [HTTPHeader("location", row[0])]
    for (status, body) in [(301, ""), (302, "<html></html>"), (303, ""), (307, ""), (308, "{}")] {
      let response = BackendBench.response(status: status, headers: headers, body)
      #expect(
        backend.failure(.refresh, response)
          == RequestFailure(
            kind: .intercepted, status: UInt16(status), serverCode: row[1].isEmpty ? nil : row[1]))
    }
  }

  @Test(
    "LOG-12 STO-3 an identifier that is an e-mail address is refused",
    arguments: AnswerTables.identifiers)
  func identifier(row: Row) throws {
    let id = row[0]
    var wire = BackendBench.wire
    wire.response.user = [.claim("sub")]
    let token = LoopbackToken.make(claims: ["sub": .string(id)])
    let response = BackendBench.response(#"{"access_token":"\#(token)","expires_in":60}"#)
    let found: Identifier?
    do throws(AnswerFailure) { found = try wire.readLogin(response).user?.id } catch {
      #expect(error.problem?.contains("an e-mail address") == true)
      found = nil
    }
    #expect(found == (row[1] == "an identifier" ? Identifier(id) : nil))
  }

  @Test("REF-5 a member with an unusual value is accepted", arguments: AnswerTables.goodMembers)
  func goodMember(row: Row) throws {
    for place in try places(row) { #expect(place.failure(status: 200, spoiled(place, row)) == nil) }
  }

  @Test(
    "POL-4 REF-8 a token's lifetime comes from the first source that states it",
    arguments: AnswerTables.lifetimes)
  func lifetime(row: Row) throws {
    var wire = BackendBench.wire
    wire.tokenForm = .opaque
    wire.response.assumesUTC = row[0].hasPrefix("utc ")
    wire.response.usesDeviceClock = row[0].hasPrefix("device ")
    let sources = row[0].replacing("utc ", with: "").replacing("device ", with: "")
    wire.response.lifetime = try sources.components(separatedBy: ", ").map(source)
    let claims = row[2].isEmpty ? "opaque" : "h.\(LoopbackToken.base64URL(Array(row[2].utf8))).s"
    let members = row[1].dropFirst().dropLast()
    let body = "{\(members)\(members.isEmpty ? "" : ",")\"access_token\":\"\(claims)\"}"
    let headers = row[3].isEmpty ? [] : [HTTPHeader("Date", row[3])]
    var result = ""
    // What the device's clock says, in a session.
    var context = RequestContext()
    context.clock = ManualClock(time: Timestamp(milliseconds: 784_111_777_000))
    do throws(AnswerFailure) {
      let found = try wire.readSwitch(BackendBench.response(headers: headers, body), in: context)
      result = "\(found.lifetimeMilliseconds)" + (found.isMeasuredByDevice ? " by device" : "")
    } catch { result = error.problem ?? "\(error)" }
    #expect(result == row[4])
  }

  private func source(_ text: String) throws -> TokenLifetime {
    let words = text.split(separator: " ").map(String.init)
    try #require(words.count == 2)
    switch words[0] {
    case "seconds": return .seconds(MemberPath(words[1]))
    case "milliseconds": return .milliseconds(MemberPath(words[1]))
    case "instant": return .instant(MemberPath(words[1]))
    case "claim": return .claim(words[1])
    default:
      try #require(words[0] == "assumed")
      return .assumed(.milliseconds(try #require(Int64(words[1]))))
    }
  }

  @Test(
    "LOG-7 the response to a protected call has the meaning in the table",
    arguments: AnswerTables.calls)
  func call(row: Row) throws {
    let status = try #require(Int(row[0]))
    let found = BackendBench.wire.failure(.call, BackendBench.response(status: status, row[1]))
    #expect(found?.kind.description ?? "fine" == row[2])
  }

  private func places(_ row: Row) throws -> [Place] {
    try row[0].split(separator: ",").map { word in
      try #require(Place(rawValue: word.filter { $0 != " " }))
    }
  }

  private func spoiled(_ place: Place, _ row: Row, isRotated: Bool = true) -> String {
    var members = place.members
    if place == .switched, !isRotated { members["refresh_token"] = nil }
    members[row[1]] = row[2] == "missing" ? nil : row[2]
    return BackendBench.object(members)
  }
}

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
  private static func rows(_ head: [String]) -> [Row] { page.rows(head).map { Row(cells: $0) } }
}
