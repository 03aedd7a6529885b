@_spi(Internals) import SessionCore
import Testing

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
            sequence: UInt64(index + 1), time: Timestamp(milliseconds: 5),
            content: .event(event)))
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
