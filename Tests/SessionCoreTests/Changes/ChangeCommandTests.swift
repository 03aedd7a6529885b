@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import Testing

/// One decision: the events before it, the command, and the events or the refusal that it results in.
private struct Decision: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let given: [ChangeEvent]
  let when: ChangeCommand
  let then: Result<[ChangeEvent], ChangeRefusal>

  init(_ name: String, given: [ChangeEvent] = [], when: ChangeCommand, then: [ChangeEvent]) {
    (testDescription, self.given, self.when) = (name, given, when)
    self.then = .success(then)
  }

  init(
    _ name: String, given: [ChangeEvent] = [], when: ChangeCommand, refused refusal: ChangeRefusal
  ) {
    (testDescription, self.given, self.when) = (name, given, when)
    then = .failure(refusal)
  }
}

@Suite("The decider ChangeQueue.decide")
struct ChangeCommandTests {
  private static let now = Timestamp(milliseconds: 1_000)
  private static let later = now.advanced(by: 60_000)
  private static let limits = ChangeLimits(content: 8, count: 2, bytes: 4_096)
  private static let first = SignIn(journal: "j", generation: Generation(1))
  private static let second = SignIn(journal: "j", generation: Generation(2))
  private static let holder = LogoutHolder(nil, process: 7)

  /// An edit of an entity of its own.
  private static func edit(
    _ key: Identifier, content: String = "text", of entity: Identifier? = nil,
    _ operation: Change.Operation = .update
  ) -> Change {
    Change(
      operation, EntityReference("task", entity ?? key), content: Array(content.utf8), key: key)
  }

  private static func added(_ change: Change, by user: Identifier = "u-1") -> ChangeEvent {
    .added(.init(user: user, change: change))
  }

  private static func add(
    _ change: Change, by user: Identifier = "u-1", through signIn: SignIn? = nil,
    in limits: ChangeLimits = limits
  ) -> ChangeCommand {
    .add(.init(change, by: user, through: signIn, in: limits))
  }

  private static func sent(_ key: Identifier, by sender: Identifier = "s") -> ChangeEvent {
    .sent(.init(key: key, sender: sender, process: 7, deadline: later))
  }

  /// A change that was sent and given up.
  private static func dead(_ key: Identifier, by user: Identifier = "u-1") -> [ChangeEvent] {
    [
      added(edit(key), by: user), sent(key),
      .givenUp(.init(key: key, cause: .refused, reason: "422")),
    ]
  }

  private static func held(until: Timestamp) -> ChangeEvent {
    .leaving(.init(journal: "j", process: 7, until: until))
  }

  private static let additions: [Decision] = [
    Decision("a change is added", when: add(edit("a")), then: [added(edit("a"))]),
    Decision(
      "the first change of a sign-in names it",
      when: add(edit("a"), through: first), then: [.addedBy(first), added(edit("a"))]),
    Decision(
      "a later change of the same sign-in does not", given: [.addedBy(first), added(edit("a"))],
      when: add(edit("b"), through: first), then: [added(edit("b"))]),
    Decision(
      "a repeated call has no effect", given: [added(edit("a"))], when: add(edit("a")), then: []),
    Decision(
      "another change with the key is refused", given: [added(edit("a"))],
      when: add(edit("a", content: "other")), refused: .keyInUse("a")),
    Decision(
      "the key of a dead letter is refused", given: dead("a"), when: add(edit("a")),
      refused: .givenUp("a")),
    Decision(
      "content over the limit is refused", when: add(edit("a", content: "nine char")),
      refused: .contentTooLong(bytes: 9, limit: 8)),
    Decision(
      "content at the limit is added", when: add(edit("a", content: "8 chars.")),
      then: [added(edit("a", content: "8 chars."))]),
    Decision(
      "changes of another user that are pending refuse it",
      given: [added(edit("a"), by: "u-2"), added(edit("b"), by: "u-2")], when: add(edit("c")),
      refused: .othersChanges(2)),
    Decision(
      "a dead letter of another user does not", given: dead("a", by: "u-2"), when: add(edit("b")),
      then: [added(edit("b"))]),
    Decision(
      "a sign-in that ended refuses it", given: [.signInEnded(first)],
      when: add(edit("a"), through: first), refused: .signInEnded),
    Decision(
      "a later sign-in accepts it", given: [.signInEnded(first)],
      when: add(edit("a"), through: second), then: [.addedBy(second), added(edit("a"))]),
    Decision(
      "a logout refuses it", given: [held(until: later)], when: add(edit("a"), through: first),
      refused: .loggingOut(until: later)),
    Decision(
      "a logout of another session accepts it", given: [held(until: later)],
      when: add(edit("a"), through: SignIn(journal: "k", generation: Generation(1))),
      then: [.addedBy(SignIn(journal: "k", generation: Generation(1))), added(edit("a"))]),
  ]

  private static let full = [added(edit("a")), added(edit("b"))]

  private static let roomChecks: [Decision] = [
    Decision(
      "one change too many is refused", given: full, when: add(edit("c")),
      refused: .full(count: 2, bytes: edit("a").size + edit("b").size)),
    Decision(
      "dead letters count", given: dead("a") + [added(edit("b"))], when: add(edit("c")),
      refused: .full(count: 2, bytes: edit("a").size + edit("b").size)),
    Decision(
      "a change that replaces another of its size is added", given: full,
      when: add(edit("c", of: "a")), then: [added(edit("c", of: "a"))]),
    Decision(
      "a byte too many is refused",
      when: add(edit("a"), in: ChangeLimits(content: 8, count: 2, bytes: edit("a").size - 1)),
      refused: .full(count: 0, bytes: 0)),
    Decision(
      "the last byte is accepted",
      when: add(edit("a"), in: ChangeLimits(content: 8, count: 2, bytes: edit("a").size)),
      then: [added(edit("a"))]),
  ]

  private static let others: [Decision] = [
    Decision(
      "a dead letter is retried", given: dead("a"), when: .retry("a"), then: [.retried("a")]),
    Decision("an unknown key is not retried", when: .retry("a"), refused: .unknownKey("a")),
    Decision(
      "a pending change is not retried", given: [added(edit("a"))], when: .retry("a"),
      refused: .unknownKey("a")),
    Decision(
      "changes of another user that are pending refuse a retry",
      given: dead("a") + [added(edit("b"), by: "u-2")], when: .retry("a"),
      refused: .othersChanges(1)),
    Decision(
      "a pending change with the key refuses a retry", given: dead("a") + [added(edit("a"))],
      when: .retry("a"), refused: .keyInUse("a")),
    Decision(
      "a pending change is discarded", given: [added(edit("a"))], when: .discard("a"),
      then: [.discarded(.init(key: "a", cause: .app))]),
    Decision(
      "a dead letter is dismissed", given: dead("a"), when: .discard("a"),
      then: [.discarded(.init(key: "a", cause: .app))]),
    Decision("an unknown key is not discarded", when: .discard("a"), refused: .unknownKey("a")),
    Decision(
      "everything is discarded", given: dead("a"), when: .discardAll,
      then: [.discarded(.init(cause: .app))]),
    Decision("nothing is left to discard", when: .discardAll, then: []),
    Decision(
      "the sender releases its change", given: [added(edit("a")), sent("a")],
      when: .release("a", sender: "s"),
      then: [
        .postponed(
          .init(
            key: "a", isCounted: false, retryAt: now, reason: "stopped before a response arrived"))
      ]),
    Decision(
      "a change that another process sends is not released",
      given: [added(edit("a")), sent("a", by: "t")], when: .release("a", sender: "s"), then: []),
    Decision(
      "a change that was discarded meanwhile is not released", when: .release("a", sender: "s"),
      then: []),
  ]

  private static let check = ChangeEvent.ScopeChecked(scope: "", statusChangedAt: now)
  private static let newer = ChangeEvent.ScopeChecked(scope: "", statusChangedAt: later)

  private static let ends: [Decision] = [
    Decision("a first status is stored", when: .noteStatus(check), then: [.scopeChecked(check)]),
    Decision(
      "a known status is not stored again", given: [.scopeChecked(check)],
      when: .noteStatus(check), then: []),
    Decision(
      "an older status that the app states is stored", given: [.scopeChecked(newer)],
      when: .noteStatus(check), then: [.scopeChecked(check)]),
    Decision(
      "an older status of a profile is not stored", given: [.scopeChecked(newer)],
      when: .noteNewerStatus(check), then: []),
    Decision(
      "the same status of a profile is not stored again", given: [.scopeChecked(newer)],
      when: .noteNewerStatus(newer), then: []),
    Decision(
      "a newer status of a profile is stored", given: [.scopeChecked(check)],
      when: .noteNewerStatus(newer), then: [.scopeChecked(newer)]),
    Decision(
      "a logout without changes holds the queue",
      when: .hold(journal: "j", user: "u-1", by: holder, until: later), then: [held(until: later)]),
    Decision(
      "a logout with changes holds nothing", given: [added(edit("a"))],
      when: .hold(journal: "j", user: "u-1", by: holder, until: later), then: []),
    Decision(
      "changes of another user do not prevent a hold", given: [added(edit("a"), by: "u-2")],
      when: .hold(journal: "j", user: "u-1", by: holder, until: later), then: [held(until: later)]),
    Decision(
      "the holder releases its hold", given: [held(until: later)],
      when: .releaseHold(journal: "j", by: holder), then: [held(until: now)]),
    Decision(
      "another process does not", given: [held(until: later)],
      when: .releaseHold(journal: "j", by: LogoutHolder(nil, process: 8)), then: []),
    Decision(
      "a sign-in ends with its changes", given: [.addedBy(first), added(edit("a"))],
      when: .endSignIn(first, user: "u-1", discards: true),
      then: [.signInEnded(first), .discarded(.init(cause: .logout))]),
    Decision(
      "a sign-in ends and keeps its changes", given: [.addedBy(first), added(edit("a"))],
      when: .endSignIn(first, user: "u-1", discards: false), then: [.signInEnded(first)]),
    Decision(
      "a sign-in ends once", given: [.signInEnded(first)],
      when: .endSignIn(first, user: "u-1", discards: true), then: []),
  ]

  @Test("SYN-2 a queue accepts or refuses an addition", arguments: additions)
  private func adds(_ decision: Decision) throws { try judge(decision) }

  @Test("SYN-3 a full queue refuses an addition that makes it larger", arguments: roomChecks)
  private func isFull(_ decision: Decision) throws { try judge(decision) }

  @Test("SYN-3 a queue accepts or refuses what is done with its changes", arguments: others)
  private func changes(_ decision: Decision) throws { try judge(decision) }

  @Test("SYN-4 a queue decides what a status or the end of a sign-in changes", arguments: ends)
  private func finishes(_ decision: Decision) throws { try judge(decision) }

  @Test("SYN-3 the hold of a process that is proven to be gone does not refuse an addition")
  func goneHolder() throws {
    let identity = ProcessIdentity(opening: "o", boot: nil)
    let gone = LogoutHolder(identity, process: 7)
    var queue = ChangeQueue()
    let hold = ChangeCommand.hold(journal: "j", user: nil, by: gone, until: Self.later)
    for event in try queue.decide(hold, at: Self.now) { try queue.apply(event, at: Self.now) }
    let add = Self.add(Self.edit("a"), through: Self.first)
    #expect(throws: ChangeRefusal.loggingOut(until: Self.later)) {
      try queue.decide(add, at: Self.now)
    }
    let events = try queue.decide(add, at: Self.now) { $0 == identity && $1 == 7 }
    #expect(events == [.addedBy(Self.first), Self.added(Self.edit("a"))])
  }

  /// Compares a decision with its row; the events of an accepted command can always be applied.
  private func judge(_ decision: Decision) throws {
    var queue = ChangeQueue()
    for event in decision.given { try queue.apply(event, at: Self.now) }
    let result = Result { () throws(ChangeRefusal) in
      try queue.decide(decision.when, at: Self.now)
    }
    #expect(result == decision.then)
    if case .success(let events) = result {
      for event in events { try queue.apply(event, at: Self.now) }
    }
  }
}
