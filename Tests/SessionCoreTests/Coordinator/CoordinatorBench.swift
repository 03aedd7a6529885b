import SessionCore

/// A shell that does nothing but commit: a coordinator on a clock that stands still, with the
/// journal as an array.
///
/// What a test says happens, happens; what the coordinator wants is recorded.
struct CoordinatorBench {
  var coordinator: SessionCoordinator
  var now = Moment(time: Timestamp(milliseconds: 1_000_000_000), uptime: 5_000)
  private(set) var journal: [SessionRecord] = []
  private(set) var callers: UInt64 = 0

  /// How the next commits end; after these every one succeeds.
  var commitEndings: [CommitEnding] = []

  enum CommitEnding {
    case succeeds
    case fails
    /// And would fail again however often it is tried.
    case failsForGood
    /// Another process appended these first.
    case conflicts([SessionRecord.Content])
  }

  init(_ policy: SessionPolicy = .bench) {
    coordinator = SessionCoordinator(policy: policy)
  }

  /// A bench whose journal holds something already.
  init(_ policy: SessionPolicy = .bench, journal: [SessionRecord.Content])
    throws(SessionFold.Failure)
  {
    var fold = SessionFold()
    for (sequence, content) in zip(UInt64(1)..., journal) {
      let record = SessionRecord(sequence: sequence, time: now.time, content: content)
      self.journal.append(record)
      try fold.apply(record)
    }
    coordinator = SessionCoordinator(policy: policy, fold: fold)
  }

  var events: [SessionEvent] { journal.compactMap(\.event) }
  var names: [String] { journal.map(\.name) }

  mutating func caller() -> Caller {
    callers += 1
    return Caller(callers)
  }

  mutating func advance(by milliseconds: Int64) {
    now = Moment(
      time: now.time.advanced(by: milliseconds), uptime: now.uptime + milliseconds)
  }

  /// Tells the coordinator, performs its commits, and returns every other effect in order.
  @discardableResult
  mutating func tell(_ input: SessionInput) -> [SessionEffect] {
    var effects: [SessionEffect] = []
    var inputs = [input]
    while !inputs.isEmpty {
      for effect in coordinator.handle(inputs.removeFirst(), at: now) {
        if case .commit(let commit) = effect {
          inputs.insert(perform(commit), at: 0)
        } else {
          effects.append(effect)
        }
      }
    }
    return effects
  }

  private mutating func perform(_ commit: SessionCommit) -> SessionInput {
    switch commitEndings.isEmpty ? .succeeds : commitEndings.removeFirst() {
    case .succeeds:
      return .committed(firstSequence: append(commit.contents, at: commit.time)[0].sequence)
    case .fails:
      return .commitFailed(isLasting: false)
    case .failsForGood:
      return .commitFailed(isLasting: true)
    case .conflicts(let contents):
      return .conflicted(append(contents, at: now.time))
    }
  }

  @discardableResult
  private mutating func append(_ contents: [SessionRecord.Content], at time: Timestamp)
    -> [SessionRecord]
  {
    let first = UInt64(journal.count + 1)
    let records = zip(first..., contents).map {
      SessionRecord(sequence: $0, time: time, content: $1)
    }
    journal += records
    return records
  }
}

extension CoordinatorBench {
  static let lifetime: Int64 = 3_600_000

  /// A bench with Ada signed in and nothing under way.
  static func signedIn(
    _ policy: SessionPolicy = .bench, lifetime: Int64 = lifetime, isRefreshable: Bool = true
  ) -> CoordinatorBench {
    var bench = CoordinatorBench(policy)
    bench.tell(.opened(.nothing))
    let effects = bench.tell(.login(bench.caller(), .password))
    bench.tell(
      .answered(
        effects.request ?? RequestNumber(0),
        .login("ada", lifetime: lifetime, isRefreshable: isRefreshable)))
    return bench
  }

  /// Tells of a caller's refresh and returns who called and what followed.
  mutating func refresh(_ trigger: RefreshTrigger = .manual) -> (Caller, [SessionEffect]) {
    let caller = caller()
    return (caller, tell(.refresh(caller, trigger, ifNeeded: false)))
  }
}

extension SessionPolicy {
  /// Round figures; a refused refresh clears.
  static let bench = SessionPolicy(
    name: "bench", refreshThreshold: 60_000, maximumAttempts: 3, firstRetryDelay: 1_000,
    longestRetryDelay: 60_000, requestTimeout: 30_000)

  static var keeping: SessionPolicy {
    var policy = SessionPolicy.bench
    policy.onRejection = .keep
    policy.onExhaustion = .end(.keep)
    return policy
  }
}

extension AnswerFacts {
  static func login(
    _ user: Identifier, lifetime: Int64 = CoordinatorBench.lifetime, isRefreshable: Bool = true
  ) -> AnswerFacts {
    AnswerFacts(
      lifetime: lifetime, tokenID: "jti-1", hasRefreshToken: isRefreshable, user: user,
      context: .teacher)
  }

  static func token(lifetime: Int64 = CoordinatorBench.lifetime, rotated: Bool = false)
    -> AnswerFacts
  {
    AnswerFacts(lifetime: lifetime, hasRefreshToken: rotated)
  }
}

extension ActiveContext {
  static let teacher = ActiveContext(
    role: Named(id: "r-1", name: "Teacher"), school: Named(id: "s-1", name: "North"),
    permissions: ["materials:read"])
  static let principal = ActiveContext(
    role: Named(id: "r-2", name: "Principal"), school: Named(id: "s-1", name: "North"),
    permissions: ["materials:read", "users:write"])
}

extension [SessionEffect] {
  /// The number of the request that is sent, where one is.
  var request: RequestNumber? {
    for case .send(let number, _) in self { return number }
    return nil
  }

  var sendCount: Int {
    reduce(0) { if case .send = $1 { $0 + 1 } else { $0 } }
  }

  func reply(to caller: Caller) -> SessionEffect.Reply? {
    for case .resume(caller, let reply) in self { return reply }
    return nil
  }

  func uptime(of timer: SessionTimer) -> Int64? {
    for case .schedule(timer, let uptime) in reversed() { return uptime }
    return nil
  }

  /// The position of the first effect that the test recognises.
  func place(_ matches: (SessionEffect) -> Bool) -> Int {
    firstIndex(where: matches) ?? count
  }
}
