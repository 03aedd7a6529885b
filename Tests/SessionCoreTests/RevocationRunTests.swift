import Testing

@_spi(Internals) @testable import SessionCore

/// The table of outcomes in `Specs/Answers.md`, run by the value that decides them.
@Suite("The steps of a revocation")
struct RevocationRunTests {
  @Test("OUT-9 a revocation that the server refuses is given up after 30 days, and no other one is")
  func patience() {
    #expect([400, 401, 403, 404, 406, 422, 499].allSatisfy(RevocationRun.isRefusal))
    #expect(![0, 200, 302, 408, 425, 429, 500, 503].contains(where: RevocationRun.isRefusal))
    let start = Timestamp(milliseconds: 1_000)
    for (days, isGivenUp) in [(0, false), (29, false), (30, true), (31, true)] {
      let now = start.advanced(by: .seconds(86_400 * days))
      #expect(RevocationRun.isGivenUp(refusedSince: start, at: now) == isGivenUp)
    }
  }

  @Test("OUT-5 each row gives the true outcome for the refresh token")
  func outcomes() throws {
    let table = try SpecFile("Specs/Answers.md").table(under: "Telling the server of the end")
    let rows = table.map { row in
      ["access token", "request", "refresh", "outcome"].map { row[$0] ?? "no such cell" }
    }
    #expect(rows.count >= 15)
    for row in rows {
      var run = RevocationRun(needsAccess: [true], tokens: Self.tokens(row))
      // The server's responses to the first request, the refresh, and the request after it.
      var replies: [RevocationRun.Reply] = row[1].isEmpty ? [] : [Self.reply(row[1])]
      let parts = row[2].replacing(", ", with: ",").split(separator: ",").map { String($0) }
      if parts.count == 2 { replies.append(Self.reply(parts[1].replacing("then ", with: ""))) }
      var steps = 0
      while steps < 5 {
        steps += 1
        switch run.next {
        case .end: steps = 5
        case .refresh: run.refreshed(Self.refresh(parts.first ?? ""))
        case .send(let index):
          guard !replies.isEmpty else {
            Issue.record("\(row): a request that the row does not have")
            return
          }
          run.replied(replies.removeFirst(), to: index)
        }
      }
      guard case .end(let outcome, _) = run.next else {
        Issue.record("\(row): it has no end")
        continue
      }
      #expect(outcome.description == row[3], "\(row)")
      #expect(replies.isEmpty, "\(row): a request was not sent")
    }
  }

  @Test("OUT-5 a token that was already useless is not reported as revoked")
  func refusedToken() {
    let tokens = RevocationRun.Tokens(isExpired: false, canRefresh: true)
    var run = RevocationRun(needsAccess: [false, false], tokens: tokens)
    run.replied(.refused(status: 401), to: 0)
    #expect(run.next == .send(1))
    run.replied(.done, to: 1)
    #expect(run.next == .end(.alreadyInvalid, status: 401))
  }

  @Test("OUT-5 every request must succeed, and one that succeeded is not sent again")
  func several() {
    let tokens = RevocationRun.Tokens(isExpired: true, canRefresh: true)
    var run = RevocationRun(needsAccess: [false, true, false], done: [0], tokens: tokens)
    #expect(run.next == .refresh)
    run.refreshed(.done)
    #expect(run.next == .send(1))
    run.replied(.done, to: 1)
    #expect(run.next == .send(2))
    var failing = run
    failing.replied(.failed(status: 503), to: 2)
    #expect(failing.next == .end(.failed, status: 503))
    run.replied(.done, to: 2)
    #expect(run.next == .end(.revoked, status: 0))
    #expect(RevocationRun(needsAccess: [], tokens: tokens).next == .end(.notOffered, status: 0))
  }

  private static func tokens(_ row: [String]) -> RevocationRun.Tokens {
    RevocationRun.Tokens(
      isExpired: row[0] == "expired",
      canRefresh: row[2] != "no refresh token" && row[2] != "refresh token unreadable",
      isRefreshTokenLost: row[2] == "refresh token unreadable")
  }

  private static func reply(_ text: String) -> RevocationRun.Reply {
    switch text {
    case "done": .done
    case "401": .unauthorized(status: 401)
    default: .failed(status: 0)
    }
  }

  private static func refresh(_ text: String) -> RevocationRun.Refresh {
    if text == "done" { return .done }
    guard text.hasPrefix("refused") else { return .failed(status: 0) }
    return .refused(status: 400, isInDoubt: text.hasSuffix("that was not answered"))
  }
}
