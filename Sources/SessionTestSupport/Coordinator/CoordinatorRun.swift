@_spi(Internals) package import SessionCore
@_spi(Internals) import SessionTestKit

/// A coordinator and everything that surrounds it in a shell, as one value.
///
/// These are the journal, the stored items, the wire, the clocks, the callers and another process.
/// After each move all rules are checked. Since a run is a value, it can be branched, and all short
/// sequences of moves can be enumerated.
///
/// - Requirement: TST-1
package struct CoordinatorRun: Sendable {
  /// The coordinator under test.
  package internal(set) var coordinator: SessionCoordinator
  /// The rules that are enforced.
  package let rules: Set<CoordinatorRule>
  /// The coverage of this run, for the health of the properties.
  package internal(set) var coverage = CoordinatorCoverage()

  var now = CoordinatorBench.start
  var disk = CoordinatorDisk()
  var timers: [SessionTimer: Int64] = [:]
  var wire = CoordinatorWire()
  var callers = CoordinatorCallers()
  var revoking: [Generation] = []
  /// The users whose profile is requested, the oldest request first.
  var profiles: [Identifier] = []
  /// The failure in the profile that is being reported.
  var profileSaid: RequestFailure?
  /// The uptime of the last activity.
  var lastUse = Int64.min
  /// Whether the host clears its data.
  var hostClears = false

  var inbox: [SessionInput] = []
  /// The questions to ask during the next commit.
  var interposed: [CoordinatorMove.Question] = []
  /// The checks of the user that are under way.
  var checks: [UInt64] = []
  /// The number of the journal's records that the coordinator has seen.
  var seen = 0
  /// The number of times that other processes' records were read.
  var looks = 0
  var brokenCommits = 0
  var breaksAfterStoring = false
  var breaksForGood = false
  var breaksWipe = false
  var published: UInt64
  var isOpen = false
  var process: UInt32 = 1
  /// The uptime at which the current token expires, if it is known without the coordinator.
  var deadline: (generation: Generation, uptime: Int64)?
  /// The uptime at which the lease of another process's request ends.
  var leaseSeen: (sequence: UInt64, end: Int64)?
  /// The uptime until which another process's presumed lost request may explain a rejection.
  var overtakenUntil: Int64?
  /// The request whose process was known to be gone when this process started.
  var goneRequest: UInt64?
  /// The number of requests sent since time last advanced.
  var sendsAtOnce = 0
  /// The effects of the last move, for the trace.
  package internal(set) var lastEffects: [SessionEffect] = []

  /// Creates a run with an empty journal and a session that is not open yet.
  package init(_ policy: SessionPolicy, rules: Set<CoordinatorRule>) {
    self.rules = rules
    coordinator = SessionCoordinator(policy: PolicyFigures(policy))
    published = 0
  }

  /// The state, the activity, the unseen records and the timers, on one line.
  package var line: String {
    var line = "\(coordinator.state.line); \(coordinator.activity)"
    if let problem = coordinator.loginError { line += ", \(problem.line)" }
    if !unseen.isEmpty { line += "; \(unseen.count) unseen" }
    let timers = SessionTimer.allCases.filter { self.timers[$0] != nil }
    if !timers.isEmpty { line += "; timers \(timers.map { "\($0)" }.joined(separator: ", "))" }
    return line
  }

  /// The number of the oldest outstanding request.
  package var request: RequestNumber? { wire.outstanding.first?.number }

  /// The uptime in milliseconds.
  package var uptime: Int64 { now.uptime }

  /// The timers that can fire.
  ///
  /// No clock advances to the end of time, where a lease could not be computed.
  var reachableTimers: [SessionTimer] {
    timers.filter { $0.value < 1 << 60 }.keys.sorted { "\($0)" < "\($1)" }
  }

  // MARK: The shell

  /// Gives the coordinator an input, and performs its effects until no input is left.
  mutating func tell(_ input: SessionInput) throws(Falsified) {
    lastEffects = []
    inbox.append(input)
    var inputs = 0
    // The limit uses the journal as it is now, so that work that appends does not raise it.
    let limit = 24 + disk.journal.count
    while !inbox.isEmpty {
      let next = inbox.removeFirst()
      inputs += 1
      guard inputs <= limit else {
        // The run cannot continue, even if the rule is not enforced.
        throw Falsified(
          "\(CoordinatorRule.workIsBounded.rawValue): \(inputs) inputs followed from one, the last "
            + next.name)
      }
      coverage.count(next)
      let before = coordinator.fold
      let effects = coordinator.handle(next, at: now)
      lastEffects += effects
      try check(effects, of: next, after: before)
      for effect in effects { try perform(effect) }
    }
    try checkRest()
  }

  private mutating func perform(_ effect: SessionEffect) throws(Falsified) {
    coverage.count(effect)
    switch effect {
    case .commit(let commit): try perform(commit)
    case .send(let number, let request): try send(number, request)
    case .discard(let number, let revoking):
      try checkDiscard(number, revoking: revoking)
      wire.discard(number)
    case .publish(let events): try publish(events)
    case .skip(let sequence): try skip(through: sequence)
    case .resume(let caller, let reply): try resume(caller, reply)
    case .schedule(let timer, let uptime): timers[timer] = uptime
    case .cancel(let timer): timers[timer] = nil
    case .wipe(let wipe):
      perform(wipe)
    case .revoke(let generation):
      if disk.items.facts.revocations.contains(generation) {
        revoking.append(generation)
      } else {
        inbox.append(.revoked(generation, .abandoned, status: 0))
      }
    case .forgetRevocation(let generation):
      disk.items.facts.revocations.removeAll { $0 == generation }
    case .reloadToken(let generation): inbox.append(.reloaded(generation, reload(generation)))
    case .readSecrets: inbox.append(.secretsRead(facts(isHolderGone: false)))
    case .readJournal: inbox.insert(observe(), at: 0)
    case .askProfile(let user, _): profiles.append(user)
    case .markActive(let uptime): if unseen.isEmpty { disk.use = uptime }
    case .readUse: inbox.append(.useRead(disk.items.facts.isLocked ? nil : disk.use ?? .min))
    case .clearLocalData:
      try require(.signedOutIsQuiet, hostClears && coordinator.state.kind == .unauthenticated) {
        "the host's data is cleared while \(coordinator.state.line)"
      }
      inbox.append(.cleared)
    }
  }

  /// The records that others have appended since the coordinator last read the journal.
  var unseen: [SessionRecord] {
    Array(disk.journal.dropFirst(seen))
  }

  /// Returns the unseen records, and marks them as seen.
  ///
  /// In some cases the journal is compacted as well.
  private mutating func look() -> [SessionRecord] {
    defer { seen = disk.journal.count }
    guard !unseen.isEmpty else { return [] }
    looks += 1
    return looks % 2 == 1 ? disk.compacted(unseen, keeping: looks / 2 % 2) : unseen
  }

  private mutating func observe() -> SessionInput {
    guard brokenCommits > 0 else { return .observed(look(), isHolderGone: false) }
    brokenCommits -= 1
    return .unobserved
  }

  private mutating func perform(_ wipe: SessionEffect.Wipe) {
    guard unseen.isEmpty else {
      inbox.append(.wiped(.overtaken(look())))
      return
    }
    disk.wipe(wipe, leaving: breaksWipe)
    inbox.append(.wiped(breaksWipe ? .failed : .done))
    breaksWipe = false
  }

  private mutating func perform(_ commit: SessionCommit) throws(Falsified) {
    let questions = interposed
    interposed = []
    for question in questions {
      let input = callers.input(
        question, generation: coordinator.fold.generation, ends: nil, failures: wire.failures)
      coverage.count(input)
      let effects = coordinator.handle(input, at: now)
      try require(.commitIsLast, effects.isEmpty) { "\(effects) while a commit was under way" }
    }
    if !unseen.isEmpty {
      coverage.conflicts += 1
      inbox.insert(.conflicted(look()), at: 0)
      return
    }
    if let newest = commit.newest, let event = disk.announcement(newerThan: newest) {
      inbox.insert(.superseded(event), at: 0)
      return
    }
    if let number = commit.storing { try checkStored(number, commit) }
    if brokenCommits > 0 {
      brokenCommits -= 1
      if breaksAfterStoring { disk.store(commit) }
      if let number = commit.storing, !breaksForGood { wire.hold(number) }
      inbox.insert(.commitFailed(isLasting: breaksForGood), at: 0)
      return
    }
    if let number = commit.storing {
      wire.journaled(number)
      if let announcement = commit.announcement?.announcedToken {
        deadline = (announcement.generation, wire.deadline(of: number))
      }
    }
    noteOvertaken(by: commit)
    if commit.announcement?.kind == .login { lastUse = now.uptime }
    disk.store(commit)
    let first = UInt64(disk.journal.count + 1)
    disk.append(commit.contents, at: commit.time)
    seen = disk.journal.count
    inbox.insert(.committed(firstSequence: first), at: 0)
  }

  private mutating func send(_ number: RequestNumber, _ request: SessionEffect.Request)
    throws(Falsified)
  {
    var question: CoordinatorMove.Question?
    if case .login(let caller) = request { question = callers[caller]?.question }
    wire.send(number, request, base: coordinator.fold.generation, for: question)
    try checkSend(number, request)
    inbox.append(.leaving(number))
    sendsAtOnce += 1
    // Each process may begin with a request of its own.
    let bound = 3 + Int(process) + callers.count
    try require(.workIsBounded, sendsAtOnce <= bound) {
      "\(sendsAtOnce) requests left without a moment between them"
    }
  }

  /// The number of sessions that have ended, as far as the coordinator can know.
  var ends: Int { ends(in: disk.journal.prefix(Int(coordinator.fold.sequence))) }

  /// Returns the number of sessions that have ended when a question asked now is decided.
  ///
  /// If no user is logged in, a question that needs a token reads the whole journal first.
  func ends(for question: CoordinatorMove.Question) -> Int {
    let looks = question.needsToken && coordinator.state.kind != .authenticated
    return looks ? ends(in: disk.journal[...]) : ends
  }

  private func ends(in records: ArraySlice<SessionRecord>) -> Int {
    records.count { record in
      switch record.event {
      case .sessionExpired, .logout: true
      default: false
      }
    }
  }

  private func reload(_ generation: Generation) -> SessionInput.Reload {
    guard !disk.items.facts.isLocked else { return .unread }
    let isStored = disk.items.facts.token == .present && disk.items.facts.generation == generation
    return isStored ? .found(sessionEnd: disk.items.facts.sessionEnd) : .other
  }

  /// Returns the report of the stored items for a process that opens the session.
  func facts(isHolderGone: Bool) -> StoredItemsReport {
    var facts = disk.items.facts
    facts.process = process
    facts.isHolderGone = isHolderGone
    facts.idle = disk.use.map { max(0, now.uptime.subtractingSaturating($0)) }
    facts.hostClears = hostClears
    var debt = PendingDataClearing()
    for record in disk.journal { debt.take(record.content) }
    facts.owedClearing = debt.reason
    return facts
  }
}
