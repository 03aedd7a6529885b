import Foundation
import SessionKit
import SessionTestKit
import Testing

@Suite("Answers, row by row of Specs/Answers.md")
struct AnswerTableTests {
  typealias Row = AnswerTables.Row
  typealias Place = WireBench.Place

  @Test("the tables are there")
  func tables() {
    #expect(AnswerTables.failures.count >= 30)
    #expect(AnswerTables.waits.count >= 10)
    #expect(AnswerTables.lifetimes.count >= 30)
    #expect(AnswerTables.calls.count >= 15)
    #expect(AnswerTables.bodies.count >= 8)
    #expect(AnswerTables.badMembers.count >= 25)
    #expect(AnswerTables.goodMembers.count >= 10)
  }

  @Test("LOG-3 LOG-7 REF-6 a status and a code are a kind", arguments: AnswerTables.failures)
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

  @Test("LOG-3 Retry-After in seconds or as a date", arguments: AnswerTables.waits)
  func wait(row: Row) throws {
    var headers: [HTTPHeader] = []
    if !row[0].isEmpty { headers.append(HTTPHeader("retry-AFTER", row[0])) }
    if !row[1].isEmpty { headers.append(HTTPHeader("date", row[1])) }
    let expected = Int64(row[2])
    #expect((expected == nil) == (row[2] == "none"))
    for status in [429, 503] {
      let found = try #require(Place.refresh.failure(status: status, headers: headers, ""))
      #expect(found.failure.retryAfter == expected)
    }
  }

  @Test("LOG-3 a body that is no answer", arguments: AnswerTables.bodies)
  func body(row: Row) {
    for place in Place.allCases {
      for status in [200, 201, 204] {
        #expect(
          place.failure(status: status, row[0])
            == AnswerFailure(
              failure: RequestFailure(kind: .unreadable, status: UInt16(status)), problem: row[1]))
      }
    }
  }

  @Test("LOG-3 a member that is not what it must be", arguments: AnswerTables.badMembers)
  func badMember(row: Row) throws {
    for place in try places(row) {
      #expect(place.failure(status: 200, spoiled(place, row))?.problem == row[3])
    }
  }

  @Test("REF-5 a member that may be so", arguments: AnswerTables.goodMembers)
  func goodMember(row: Row) throws {
    for place in try places(row) {
      #expect(place.failure(status: 200, spoiled(place, row)) == nil)
    }
  }

  @Test("POL-4 REF-8 how long a token is good", arguments: AnswerTables.lifetimes)
  func lifetime(row: Row) throws {
    var wire = WireBench.wire
    wire.tokenForm = .opaque
    wire.answer.lifetime = try row[0].components(separatedBy: ", ").map(source)
    let claims = row[2].isEmpty ? "opaque" : "h.\(LoopbackToken.base64URL(Array(row[2].utf8))).s"
    let members = row[1].dropFirst().dropLast()
    let body = "{\(members)\(members.isEmpty ? "" : ",")\"access_token\":\"\(claims)\"}"
    let headers = row[3].isEmpty ? [] : [HTTPHeader("Date", row[3])]
    let result: String
    do throws(AnswerFailure) {
      result = "\(try wire.readRefresh(WireBench.response(headers: headers, body)).lifetime)"
    } catch {
      result = error.problem ?? "\(error)"
    }
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
      return .assumed(try #require(Int64(words[1])))
    }
  }

  @Test("LOG-7 what the answer to a protected call means", arguments: AnswerTables.calls)
  func call(row: Row) throws {
    let status = try #require(Int(row[0]))
    let found = WireBench.wire.failure(.call, WireBench.response(status: status, row[1]))
    #expect(found?.kind.description ?? "fine" == row[2])
  }

  private func places(_ row: Row) throws -> [Place] {
    try row[0].split(separator: ",").map { word in
      try #require(Place(rawValue: word.filter { $0 != " " }))
    }
  }

  private func spoiled(_ place: Place, _ row: Row) -> String {
    var members = place.members
    members[row[1]] = row[2] == "missing" ? nil : row[2]
    return WireBench.object(members)
  }
}
