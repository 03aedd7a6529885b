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
