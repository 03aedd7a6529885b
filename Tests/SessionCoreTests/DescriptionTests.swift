import SessionCore
import Testing

@Suite("One line of text for states, events and ends")
struct DescriptionTests {
  private static let time = Timestamp(milliseconds: 1_767_225_600_000)
  private static let end = "2026-01-01T01:00:00.000Z"

  private static func token(_ number: UInt64, isRefreshable: Bool = true) -> TokenMetadata {
    TokenMetadata(
      generation: Generation(number), issuedAt: time, expiresAt: time.advanced(by: 3_600_000),
      id: "jti-never-shown", isRefreshable: isRefreshable)
  }

  private static let context = ActiveContext(
    role: .init(id: "r-1", name: "NAME-1"), school: .init(id: "s-1", name: "NAME-2"),
    unit: .init(id: "u-1", name: "NAME-3"), permissions: ["PERMISSION"])

  private static let login = SessionEvent.login(
    .init(user: "7", method: .password, token: token(1), context: context))

  static let events: [(SessionEvent, String)] = [
    (login, "login: user 7 by password, tok#1 until \(end), role r-1 at s-1, unit u-1"),
    (
      .refreshSucceeded(
        .init(token: token(2), trigger: .schedule, attempt: 1, isRotated: true, request: 3)),
      "refreshSucceeded: tok#2 until \(end), attempt 1 as scheduled, rotated"
    ),
    (
      .refreshFailed(
        .init(
          generation: Generation(2), trigger: .retry, attempt: 2,
          failure: RequestFailure(kind: .server, status: 503), retryAt: time, request: 4)),
      "refreshFailed: tok#2, attempt 2 as a retry, server 503, again at 2026-01-01T00:00:00.000Z"
    ),
    (
      .contextSwitched(
        .init(
          context: ActiveContext(role: .init(id: "r-2", name: "NAME-4")),
          token: token(3, isRefreshable: false), trigger: .user, request: 5)),
      "contextSwitched: role r-2 by the user, tok#3 until \(end), not refreshable"
    ),
    (
      .login(.init(user: "7", method: .interactive, token: token(1))),
      "login: user 7 interactively, tok#1 until \(end)"
    ),
    (
      .login(
        .init(
          user: "7", method: .password,
          token: TokenMetadata(
            generation: Generation(1), issuedAt: time,
            expiresAt: time.advanced(by: TokenMetadata.unknownLifetime), isRefreshable: true))),
      "login: user 7 by password, tok#1 of unstated life"
    ),
    (
      .refreshFailed(
        .init(
          generation: Generation(1), trigger: .unauthorized, attempt: 1,
          failure: RequestFailure(kind: .noReply), retryAt: nil, request: 4)),
      "refreshFailed: tok#1, attempt 1 after a 401, noReply"
    ),
    (.sessionExpired(.init(reason: .inactivity)), "sessionExpired: inactivity"),
    (.logout(.init(reason: .user)), "logout: user"),
  ]

  @Test("STO-3 each of the six events is one line without names, permissions and token identifiers")
  func event() {
    #expect(Set(Self.events.map(\.0.kind)) == Set(SessionEvent.Kind.allCases))
    for (event, text) in Self.events {
      #expect(event.description == text)
      let recorded = RecordedEvent(sequence: 12, time: Self.time, event: event)
      #expect("\(recorded)" == "12 2026-01-01T00:00:00.000Z \(text)")
    }
  }

  @Test("STO-3 each of the three states is one line")
  func state() throws {
    var state = SessionState.unauthenticated
    #expect("\(state)" == "unauthenticated")
    try state.evolve(Self.login, at: Self.time)
    let signedIn =
      "authenticated: user 7 by password since 2026-01-01T00:00:00.000Z, tok#1 until \(Self.end), "
      + "role r-1 at s-1, unit u-1"
    #expect("\(state)" == signedIn)
    try state.evolve(
      .refreshFailed(
        .init(
          generation: Generation(1), trigger: .retry, attempt: 1,
          failure: RequestFailure(kind: .server, status: 503), retryAt: nil, request: 0)),
      at: Self.time)
    #expect("\(state)" == signedIn + ", 1 refresh failed, the last with server 503")
    try state.evolve(.sessionExpired(.init(reason: .inactivity)), at: Self.time)
    #expect(
      "\(state)" == "expired: user 7 since 2026-01-01T00:00:00.000Z, inactivity, "
        + "role r-1 at s-1, unit u-1")
  }

  @Test("STA-8 STA-3 an end says its reason and time, and an activity its name")
  func others() {
    #expect(
      "\(SessionEnd(reason: .expired(.inactivity), time: Self.time))"
        == "expired: inactivity at 2026-01-01T00:00:00.000Z")
    #expect(
      "\(SessionEnd(reason: .loggedOut(.user), time: Self.time))"
        == "logged out: user at 2026-01-01T00:00:00.000Z")
    let activities: [SessionActivity] = [
      .loading, .idle, .authenticating, .refreshing, .switching, .failed, .replaced,
    ]
    #expect(
      activities.map(\.description) == [
        "loading", "idle", "authenticating", "refreshing", "switching", "failed", "replaced",
      ])
  }

  @Test(
    "STO-3 an identifier that may be an e-mail address is not shown, and none breaks the line",
    arguments: [
      ("ann@example.com", "(not shown)"), ("a\nb\u{2028}c\u{7}", "a\u{FFFD}b\u{FFFD}c\u{FFFD}"),
    ])
  func identifiers(user: String, shown: String) {
    let event = SessionEvent.login(
      .init(user: Identifier(user), method: .password, token: Self.token(1)))
    #expect("\(event)" == "login: user \(shown) by password, tok#1 until \(Self.end)")
  }
}
