@_spi(Internals) internal import SessionCore

/// One opening of a journal, whose decisions today's coordinator makes again.
///
/// It performs no effect. It answers those that cannot fail as a shell does that has all it needs:
/// a wipe is done, a journal that is read has no new records, a stored token is found.
struct ReplayedOpening: Sendable {
  /// The opening's own note; `nil` if its record is not in the journal.
  let note: SessionNote.Opened?
  /// The policy; `nil` if it is not known, and then no decision counts.
  let policy: SessionPolicy?
  private(set) var coordinator: SessionCoordinator
  /// The timers that are set, by their uptime.
  private(set) var timers: [SessionTimer: Int64] = [:]
  /// The batch that the coordinator has decided and that is not in the journal yet.
  private(set) var decision: SessionCommit?
  /// Whether today's decision differed from a recorded one, so that later ones may differ too.
  var isLost = false

  /// The uptime minus the civil time.
  let offset: Int64
  /// The requests whose first byte was never sent, by their sequence.
  private let unsent: Set<UInt64>
  private var requests: [UInt64: RequestNumber] = [:]
  private var login: RequestNumber?
  private var lastUse: Int64?

  /// Creates an opening that has read `fold`; it is not open yet.
  init(
    _ note: SessionNote.Opened?, at time: Timestamp, policy: SessionPolicy?, fold: SessionFold,
    unsent: Set<UInt64>, continuesAnother: Bool = false
  ) {
    (self.note, self.policy, self.unsent) = (note, policy, unsent)
    coordinator = SessionCoordinator(
      policy: PolicyFigures(policy ?? .standard), fold: fold, continuesAnother: continuesAnother)
    let uptime = note?.uptime ?? time.milliseconds
    offset = uptime.subtractingSaturating(time.milliseconds)
  }

  /// Returns an opening of the same process that knows nothing but this fold.
  func restarted(at time: Timestamp, _ fold: SessionFold, unsent: Set<UInt64>) -> ReplayedOpening {
    let opened = note.map {
      SessionNote.Opened(
        process: $0.process, boot: $0.boot, uptime: reading(at: time).uptime, app: $0.app,
        identity: $0.identity)
    }
    return ReplayedOpening(opened, at: time, policy: policy, fold: fold, unsent: unsent)
  }

  /// Returns both clocks at a civil time.
  ///
  /// Within an opening, the journal shows only the civil time. So it counts as if it had not
  /// jumped.
  func reading(at time: Timestamp) -> ClockReading {
    ClockReading(time: time, uptime: time.milliseconds.addingSaturating(offset))
  }

  /// Returns the civil time at an uptime.
  func time(at uptime: Int64) -> Timestamp {
    Timestamp(milliseconds: uptime.subtractingSaturating(offset))
  }

  // MARK: Scripts

  /// Plays a script for a batch of this time; returns `nil` if the opening cannot have its inputs.
  func playing(_ script: InputScript, at time: Timestamp) -> ReplayedOpening? {
    var copy = self
    var now = time.advanced(by: -script.lead)
    if script.isUse { copy.use(at: time) }
    for step in script.steps {
      guard copy.play(step, script, &now, until: time) else { return nil }
    }
    return copy
  }

  private mutating func play(
    _ step: InputScript.Step, _ script: InputScript, _ now: inout Timestamp, until end: Timestamp
  ) -> Bool {
    switch step {
    case .tell(let input):
      if decision != nil { take(.commitFailed(isLasting: false), at: now) }
      guard decision == nil else { return false }
      take(input, at: now)
    case .earlier(let input, let time):
      guard decision == nil else { return false }
      take(input, at: time)
    case .answer(let request, let metadata, let time):
      guard decision == nil, let number = requests[request] else { return false }
      take(.answered(number, metadata), at: time)
    case .answerLogin(let metadata, let time):
      guard decision == nil, let login else { return false }
      take(.answered(login, metadata), at: time)
    case .fail(let request, let failure):
      guard decision == nil, let number = requests[request] else { return false }
      take(.failed(number, failure, jitter: script.jitters.lowerBound), at: now)
    case .holdBackNotes:
      if decision?.isOfStorageOnly == true { take(.commitFailed(isLasting: false), at: now) }
    case .breakUntilClosing(let cause):
      for _ in 0..<4 {
        guard let decision, !decision.contents.contains(.note(.closed)) else { break }
        take(.commitFailed(isLasting: false, cause: cause), at: now)
      }
    case .decideAgain:
      guard decision != nil else { return false }
      take(.conflicted([]), at: now)
    case .supersede(let event):
      guard decision?.newest != nil else { return false }
      take(.superseded(event), at: now)
    case .poll(let isHolderGone): return poll(isHolderGone: isHolderGone, &now, until: end)
    }
    return true
  }

  /// Reads the journal as often as an opening that waits for another one's request.
  private mutating func poll(isHolderGone: Bool, _ now: inout Timestamp, until end: Timestamp)
    -> Bool
  {
    while decision == nil {
      let effects = coordinator.handle(.fired(.lease), at: reading(at: now))
      guard effects == [.readJournal] else { return false }
      take(.observed([], isHolderGone: isHolderGone), at: now)
      guard decision == nil, now < end else { break }
      now = min(end, now.advanced(by: Self.pollPause))
    }
    return decision != nil
  }

  private static let pollPause: Int64 = 100

  // MARK: Inputs

  /// Records that the app used the session.
  mutating func use(at time: Timestamp) {
    let now = reading(at: time)
    lastUse = max(lastUse ?? .min, now.uptime)
    if decision == nil { take(.used(now.uptime), at: time) }
  }

  /// Gives the coordinator an input, and answers the effects that need no information.
  mutating func take(_ input: SessionInput, at time: Timestamp) {
    let now = reading(at: time)
    if input.endsRecordedCommit { decision = nil }
    var inputs = [input]
    // The coordinator bounds its own work; a decision stops it.
    for _ in 0..<Self.mostInputs {
      guard !inputs.isEmpty else { return }
      for effect in coordinator.handle(inputs.removeFirst(), at: now) {
        answer(effect, &inputs, at: now)
      }
    }
  }

  private static let mostInputs = 200

  private mutating func answer(
    _ effect: SessionEffect, _ inputs: inout [SessionInput], at now: ClockReading
  ) {
    switch effect {
    case .commit(let commit): decision = commit
    case .readJournal: inputs.insert(.observed([], isHolderGone: false), at: 0)
    case .send(let number, .login):
      login = number
      inputs.append(.leaving(number))
    case .send(let number, _):
      guard let intent = coordinator.fold.intents.request?.sequence else { return }
      requests[intent] = number
      if !unsent.contains(intent) { inputs.append(.leaving(number)) }
    case .schedule(let timer, let uptime): timers[timer] = uptime
    case .cancel(let timer): timers[timer] = nil
    case .wipe: inputs.append(.wiped(.done))
    case .reloadToken(let generation): inputs.append(.reloaded(generation, .found()))
    case .readUse: inputs.append(.useRead(lastUse ?? now.uptime))
    case .discard, .publish, .skip, .resume, .revoke, .forgetRevocation, .readSecrets, .askProfile,
      .markActive, .clearLocalData:
      break
    }
  }

  // MARK: The journal

  /// Makes the decision durable: its first record has this sequence.
  mutating func commit(first sequence: UInt64, at time: Timestamp) {
    let isSending = decision?.contents.sends == true
    take(.committed(firstSequence: sequence), at: time)
    guard isSending, let open = coordinator.fold.intents.request, requests[open.sequence] == nil
    else { return }
    // The request is held back until the journal was read again.
    let effects = coordinator.handle(.fired(.lease), at: reading(at: time))
    if effects == [.readJournal] { take(.observed([], isHolderGone: false), at: time) }
  }

  /// Folds a batch of another opening.
  mutating func follow(_ batch: RecordedBatch) {
    take(
      decision == nil ? .observed(batch.records, isHolderGone: false) : .conflicted(batch.records),
      at: batch.time)
  }

  /// Whether the opening has sent the request of this sequence.
  func hasSent(_ request: UInt64) -> Bool { requests[request] != nil }

  /// Whether the opening was made by the process that sends this request.
  func isSender(of sent: SessionNote.RequestSent) -> Bool {
    guard let holder = sent.identity, let identity = note?.identity else {
      return note == nil || note?.process == sent.process
    }
    return holder.opening == identity.opening
  }
}

extension SessionInput {
  /// Whether the input answers a decision.
  fileprivate var endsRecordedCommit: Bool {
    switch self {
    case .committed, .conflicted, .commitFailed, .superseded: true
    default: false
    }
  }
}

extension [SessionRecord.Content] {
  fileprivate var sends: Bool {
    contains { if case .note(.requestSent) = $0 { true } else { false } }
  }
}
