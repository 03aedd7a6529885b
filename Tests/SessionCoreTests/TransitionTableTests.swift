@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/Transitions.md")
struct TransitionTableTests {
  private static let before = Timestamp(milliseconds: 1_000)
  private static let now = Timestamp(milliseconds: 2_000)

  private func rows() throws -> [[String: String]] {
    try SpecFile("Specs/Transitions.md").table(under: "The table")
  }

  @Test("STA-1 STA-2 the table has every pair of state and event, and no row twice")
  func isTotal() throws {
    let rows = try rows()
    let pairs = Set(rows.map { "\($0["state"] ?? "") \($0["event"] ?? "")" })
    var expected: Set<String> = []
    for state in SessionState.Kind.allCases {
      for event in SessionEvent.Kind.allCases { expected.insert("\(state) \(event)") }
    }
    #expect(pairs == expected)
    #expect(expected.count == 18)
    #expect(Set(rows).count == rows.count)
    // A pair without a condition has one row; one with a condition names all of them.
    for row in rows where row["condition"] == "" {
      #expect(
        rows.count { $0["state"] == row["state"] && $0["event"] == row["event"] } == 1)
    }
    let conditions = rows.filter { $0["condition"] != "" }.map {
      "\($0["state"] ?? "") \($0["event"] ?? "") \($0["condition"] ?? "")"
    }
    #expect(Set(conditions) == Set(Cell.conditions))
  }

  @Test("STA-1 STA-2 STA-6 the code follows each row")
  func everyRow() throws {
    let rows = try rows()
    #expect(rows.count == 23)
    for row in rows {
      let state = try #require(row["state"].flatMap(SessionState.Kind.init))
      let event = try #require(
        SessionEvent.Kind.allCases.first { $0.description == row["event"] })
      let condition = try #require(row["condition"])
      let cases = Cell.events(of: event, while: state, when: condition)
      #expect(!cases.isEmpty, "no case for \(row)")
      for fact in cases { try check(row, Cell.state(state, at: Self.before), fact) }
    }
  }

  private func check(_ row: [String: String], _ before: SessionState, _ event: SessionEvent) throws
  {
    let result = try #require(row["result"])
    var after = before
    if result.hasPrefix("rejected: ") {
      let reason = try #require(SessionRejection.Reason(rawValue: String(result.dropFirst(10))))
      #expect(
        throws: SessionRejection(state: before.kind, event: event.kind, reason: reason), "\(row)"
      ) { try after.evolve(event, at: Self.now) }
      #expect(after == before, "a rejection changes nothing: \(row)")
      return
    }
    try after.evolve(event, at: Self.now)
    #expect(after.kind.description == result, "\(row)")
    let (set, kept) = (names(row["set"]), names(row["kept"]))
    let (old, new) = (Cell.fields(before), Cell.fields(after))
    #expect(set.union(kept) == Set(new.keys), "\(row)")
    #expect(set.isDisjoint(with: kept), "\(row)")
    for field in kept { #expect(new[field] == old[field], "\(field) of \(row)") }
    let given = Cell.given(by: event, at: Self.now)
    for field in set { #expect(new[field] == given[field], "\(field) of \(row)") }
    // The user of an expired session must be the same; every other field differs.
    for field in set where !(before.kind == .expired && field == "user") {
      #expect(given[field] != old[field], "the case shows nothing: \(field) of \(row)")
    }
  }

  private func names(_ cell: String?) -> Set<String> {
    Set((cell ?? "").split(separator: ", ").map(String.init))
  }
}

/// Concrete states and events for the rows of the table, chosen so that every field differs.
private enum Cell {
  static let conditions = [
    "authenticated refreshSucceeded newer token", "authenticated refreshSucceeded token not newer",
    "authenticated refreshFailed current token", "authenticated refreshFailed another token",
    "authenticated contextSwitched newer token", "authenticated contextSwitched token not newer",
    "authenticated contextSwitched no token", "expired login same user",
    "expired login another user",
  ]
  static let current = Generation(5)
  static let user: Identifier = "u-1"
  static let oldContext = context("teacher")
  static let newContext = context("head")
  static let firstFailure = RequestFailure(kind: .server, status: 503)
  static let nextFailure = RequestFailure(kind: .noReply)

  static func context(_ role: String) -> ActiveContext {
    ActiveContext(role: .init(id: Identifier(role), name: role), permissions: ["\(role):read"])
  }

  static func token(_ number: UInt64) -> TokenMetadata {
    TokenMetadata(
      generation: Generation(number), issuedAt: Timestamp(milliseconds: Int64(number) * 10),
      expiresAt: Timestamp(milliseconds: Int64(number) * 10 + 5), isRefreshable: true)
  }

  static func state(_ kind: SessionState.Kind, at time: Timestamp) -> SessionState {
    var events: [SessionEvent] = []
    if kind != .unauthenticated {
      events = [
        .login(.init(user: user, method: .adoption, token: token(5), context: oldContext)),
        failed(current, firstFailure),
      ]
    }
    if kind == .expired { events.append(.sessionExpired(.init(reason: .inactivity))) }
    var state = SessionState.unauthenticated
    for event in events {
      do { try state.evolve(event, at: time) } catch { Issue.record(error) }
    }
    return state
  }

  static func failed(_ generation: Generation, _ failure: RequestFailure) -> SessionEvent {
    .refreshFailed(
      .init(
        generation: generation, trigger: .manual, attempt: 1, failure: failure, retryAt: nil,
        request: 0))
  }

  static func login(_ user: Identifier) -> SessionEvent {
    .login(.init(user: user, method: .password, token: token(9), context: newContext))
  }

  static func events(
    of kind: SessionEvent.Kind, while state: SessionState.Kind, when condition: String
  ) -> [SessionEvent] {
    switch (kind, condition) {
    case (.login, ""): ["u-2", user].map(login)
    case (.login, "same user"): [login(user)]
    case (.login, "another user"): ["u-2", "U-1", "u-1 ", ""].map(login)
    case (.refreshSucceeded, "newer token"): [6, 7, .max].map(succeeded)
    case (.refreshSucceeded, "token not newer"): [0, 4, 5].map(succeeded)
    case (.refreshSucceeded, "") where state != .authenticated: [0, 5, 6].map(succeeded)
    case (.refreshFailed, "current token"): [failed(current, nextFailure)]
    case (.refreshFailed, "another token"):
      [0, 4, 6].map { failed(Generation($0), nextFailure) }
    case (.refreshFailed, "") where state != .authenticated:
      [4, 5, 6].map { failed(Generation($0), nextFailure) }
    case (.contextSwitched, "newer token"): [6, .max].map(switched)
    case (.contextSwitched, "token not newer"): [0, 4, 5].map(switched)
    case (.contextSwitched, "no token"): [switched(nil)]
    case (.contextSwitched, "") where state != .authenticated: [nil, 5, 6].map(switched)
    case (.sessionExpired, ""): ExpiryReason.known.map { .sessionExpired(.init(reason: $0)) }
    case (.logout, ""): LogoutReason.known.map { .logout(.init(reason: $0)) }
    default: []
    }
  }

  private static func succeeded(_ number: UInt64) -> SessionEvent {
    .refreshSucceeded(
      .init(
        token: token(number % 1_000_000), trigger: .schedule, attempt: 1, isRotated: true,
        request: 3))
  }

  private static func switched(_ number: UInt64?) -> SessionEvent {
    .contextSwitched(
      .init(
        context: newContext, token: number.map { token($0 % 1_000_000) }, trigger: .user,
        request: 3))
  }

  /// The fields of a state, by the names that the table uses.
  static func fields(_ state: SessionState) -> [String: String] {
    switch state {
    case .unauthenticated: [:]
    case .authenticated(let session):
      [
        "user": "\(session.user)", "method": "\(session.method)", "since": "\(session.since)",
        "token": "\(session.token)", "context": "\(String(describing: session.context))",
        "failures": describe(session.failures),
      ]
    case .expired(let session):
      [
        "user": "\(session.user)", "context": "\(String(describing: session.context))",
        "reason": "\(session.reason)", "since": "\(session.since)",
      ]
    }
  }

  /// The event's own values of the fields, stated without the code under test.
  static func given(by event: SessionEvent, at time: Timestamp) -> [String: String] {
    let none = describe(total: 0, answered: 0, last: nil)
    switch event {
    case .login(let login):
      return [
        "user": "\(login.user)", "method": "\(login.method)", "since": "\(time)",
        "token": "\(login.token)", "context": "\(String(describing: login.context))",
        "failures": none,
      ]
    case .refreshSucceeded(let refresh):
      return ["token": "\(refresh.token)", "failures": none]
    case .refreshFailed(let refresh):
      // A server answered the first failure but not this one.
      return ["failures": describe(total: 2, answered: 1, last: refresh.failure)]
    case .contextSwitched(let change):
      return [
        "token": change.token.map { "\($0)" } ?? "",
        "context": "\(String(describing: Optional(change.context)))", "failures": none,
      ]
    case .sessionExpired(let expiry):
      return ["reason": "\(expiry.reason)", "since": "\(time)"]
    case .logout:
      return [:]
    }
  }

  private static func describe(_ failures: SessionState.RefreshFailures) -> String {
    describe(total: failures.total, answered: failures.answered, last: failures.last)
  }

  private static func describe(total: UInt32, answered: UInt32, last: RequestFailure?) -> String {
    "\(total) \(answered) \(last.map { "\($0)" } ?? "none")"
  }
}
