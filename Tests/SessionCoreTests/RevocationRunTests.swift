@_spi(Internals) import SessionTestKit
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

@Suite("The last end of a session")
struct SessionEndTests {
  private func end(after events: [SessionEvent]) -> SessionEnd? {
    var last = LastEnd()
    for (index, event) in events.enumerated() {
      last.take(
        SessionRecord(
          sequence: UInt64(index + 1), time: Timestamp(milliseconds: Int64(index)),
          content: .event(event)))
    }
    return last.end
  }

  private let login = SessionEvent.login(
    SessionEvent.Login(
      user: "u", method: .password,
      token: TokenMetadata(
        generation: Generation(1), issuedAt: Timestamp(milliseconds: 0),
        expiresAt: Timestamp(milliseconds: 1), isRefreshable: true)))
  private let expiry = SessionEvent.sessionExpired(.init(reason: .refreshRejected))

  @Test("STA-8 an expiry stays the reason after the policy's logout, but not after the user's")
  func reasons() {
    func logout(_ reason: LogoutReason) -> SessionEvent { .logout(.init(reason: reason)) }
    #expect(end(after: [login]) == nil)
    #expect(end(after: [login, expiry])?.reason == .expired(.refreshRejected))
    #expect(end(after: [login, expiry])?.time == Timestamp(milliseconds: 1))
    let cleared = end(after: [login, expiry, logout(.policy)])
    #expect(cleared?.reason == .expired(.refreshRejected))
    #expect(cleared?.time == Timestamp(milliseconds: 1))
    #expect(end(after: [login, expiry, logout(.user)])?.reason == .loggedOut(.user))
    #expect(end(after: [login, logout(.userDeleted)])?.reason == .loggedOut(.userDeleted))
    #expect(end(after: [login, expiry, login])?.reason == .expired(.refreshRejected))
    let second = end(after: [login, expiry, login, logout(.policy)])
    #expect(second?.reason == .loggedOut(.policy), "that expiry was another session's")
  }

  @Test("STA-8 after a snapshot of unread events, the end is the state's or unknown")
  func snapshot() {
    func taken(_ state: SessionState, after events: Int, upTo sequence: UInt64) -> SessionEnd? {
      var last = LastEnd()
      for (index, event) in [login, expiry].prefix(events).enumerated() {
        last.take(
          SessionRecord(
            sequence: UInt64(index + 1), time: Timestamp(milliseconds: 5), content: .event(event)))
      }
      let fold = SessionFold(
        state: state, generation: Generation(1), sequence: sequence, eventSequence: sequence,
        intents: OpenIntents())
      last.take(
        SessionRecord(
          sequence: sequence, time: Timestamp(milliseconds: 9), content: .snapshot(fold)))
      return last.end
    }
    let expired = SessionState.expired(
      SessionState.Expired(
        user: "u", context: nil, reason: .inactivity, since: Timestamp(milliseconds: 7)))
    #expect(taken(expired, after: 2, upTo: 8)?.reason == .expired(.inactivity))
    #expect(taken(expired, after: 0, upTo: 8)?.time == Timestamp(milliseconds: 7))
    #expect(taken(.unauthenticated, after: 2, upTo: 8) == nil)
    #expect(taken(.unauthenticated, after: 2, upTo: 2)?.reason == .expired(.refreshRejected))
  }
}

@Suite("The data that a logout leaves to clear")
struct PendingDataClearingTests {
  private func pending(_ contents: SessionRecord.Content...) -> PendingDataClearing {
    var pending = PendingDataClearing()
    for content in contents { pending.take(content) }
    return pending
  }

  private func login(_ user: Identifier, _ generation: UInt64) -> SessionRecord.Content {
    .login(
      user,
      TokenMetadata(
        generation: Generation(generation), issuedAt: .plainStart, expiresAt: .plainStart,
        isRefreshable: true))
  }

  private func logout(_ reason: LogoutReason) -> SessionRecord.Content {
    .event(.logout(.init(reason: reason)))
  }

  @Test("SYN-5 only records of logins, logouts and clearings are read")
  func kinds() {
    let read = (UInt8.min...UInt8.max).filter { PendingDataClearing.reads($0) }
    #expect(
      read
        == [
          SessionEvent.Kind.login.rawValue, SessionEvent.Kind.logout.rawValue,
          SessionNote.Kind.localDataCleared.rawValue,
        ].sorted())
  }

  @Test("SYN-5 a logout leaves data to clear until a record says that it was cleared")
  func cleared() {
    let after = pending(login("ada", 3), logout(.user))
    #expect((after.reason, after.user) == (.user, "ada") && after.overtaken == nil)
    let done = pending(login("ada", 3), logout(.user), .note(.localDataCleared))
    #expect(done.reason == nil && done.overtaken == nil)
    #expect(pending(login("ada", 3)).reason == nil)
  }

  @Test("SYN-5 a later login leaves an overtaken clearing of the token before its own")
  func overtaken() {
    let later = pending(login("ada", 3), logout(.policy), login("bob", 5))
    #expect((later.reason, later.user) == (nil, "bob"))
    #expect((later.overtaken?.reason, later.overtaken?.user) == (.policy, "ada"))
    #expect(later.overtaken?.generation == Generation(4))
    #expect(pending(logout(.user), login("bob", 0)).overtaken?.generation == Generation(0))
    #expect(pending(logout(.user), login("bob", 5), .note(.localDataCleared)).overtaken == nil)
  }
}
