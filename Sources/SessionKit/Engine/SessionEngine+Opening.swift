@_spi(Internals) package import SessionCore
import SessionJournal

/// Opening: folds the journal at a path into an engine, and quarantines a journal that cannot be
/// used.
extension SessionEngine {
  static func make(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    throws(SessionError) -> (SessionEngine, [SessionNote], PendingDataClearing)
  {
    if let refusal = openingRefusal(configuration) { throw refusal }
    guard configuration.policy.recovery.unusableJournal == .setAside else {
      return try load(configuration, runtime)
    }
    // Repeated, because peers may quarantine the same journal, and the journal that they create may
    // be unusable too.
    for _ in 0..<5 {
      let (path, options) = (configuration.journal, configuration.journalOptions)
      let identity = try onJournal { () throws(JournalError) in
        try Journal.identity(at: path, options: options)
      }
      do throws(SessionError) {
        return try load(configuration, runtime)
      } catch {
        // The file disappeared between the check and the opening, so peers have quarantined it.
        if case .journal(.missing) = error.failure, identity != nil { continue }
        guard error.isOfUnusableJournal, let identity else { throw error }
        try setAside(identity, configuration)
      }
    }
    return try load(configuration, runtime)
  }

  private static func load(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    throws(SessionError) -> (SessionEngine, [SessionNote], PendingDataClearing)
  {
    var debt = PendingDataClearing()
    var lastEnd = LastEnd()
    var ended = EndedProcesses()
    var payloads = PayloadFold()
    var plan = configuration.retention.map { RetentionPlan($0) }
    var failure: SessionError?
    // The journal itself says so, since the quarantined file may have been removed since.
    var continuesAnother = false
    let (path, options) = (configuration.journal, configuration.journalOptions)
    let journal = try onJournal { () throws(JournalError) in
      try Journal.open(at: path, options: options) { frame, payload in
        guard failure == nil else { return }
        do throws(SessionError) {
          guard !OtherLogRecords.contains(kind: frame.kind, payload: payload) else {
            throw .unusableJournal(
              path: path, sequence: frame.sequence, problem: SessionError.otherLogProblem)
          }
          let time = try payloads.apply(frame, payload, path: path)
          if frame.kind == SessionNote.Kind.continued.rawValue { continuesAnother = true }
          if configuration.hasLocalData { debt.take(frame, payload) }
          lastEnd.take(frame, payload)
          ended.take(frame, payload)
          plan?.take(
            frame.kind, sequence: frame.sequence, at: time, leaving: payloads.intents,
            bytes: JournalFrame.bytes(of: Int(frame.payloadLength)))
        } catch {
          failure = error
        }
      }
    }
    let fold: SessionFold
    let predecessor: QuarantinedJournal?
    do throws(SessionError) {
      if let failure { throw failure }
      fold = try payloads.fold(path: path)
      lastEnd.pass(to: fold.eventSequence)
      predecessor = fold.generation == .none ? try self.predecessor(at: path, options) : nil
    } catch let failure {
      try onJournal { () throws(JournalError) in try journal.close() }
      throw failure
    }
    let engine = SessionEngine(
      configuration, journal: journal, fold: fold, plan: plan, runtime: runtime,
      presence: configuration.presence(path, options, configuration.clock.boot),
      predecessor: predecessor, continuesAnother: continuesAnother, lastEnd: lastEnd,
      endedProcesses: ended.count)
    return (engine, engine.notes(of: journal, at: configuration.clock.now()), debt)
  }

  private static func predecessor(at path: String, _ options: JournalOptions)
    throws(SessionError) -> QuarantinedJournal?
  {
    let aside = try onJournal { () throws(JournalError) in
      try Journal.lastSetAside(at: path, options: options)
    }
    return try aside.flatMap { (aside) throws(SessionError) in
      try QuarantinedJournal.read(aside.path, options)
    }
  }

  /// Moves an unusable journal out of the way.
  ///
  /// Does nothing if another journal is at the path.
  private static func setAside(
    _ identity: FileStatus.Identity, _ configuration: SessionConfiguration
  ) throws(SessionError) {
    let (path, options) = (configuration.journal, configuration.journalOptions)
    let read: QuarantinedJournal?
    do throws(SessionError) {
      read = try QuarantinedJournal.read(path, options)
    } catch {
      guard case .journal(.missing) = error.failure else { throw error }
      return
    }
    guard let unusable = read else { return }
    let time = configuration.clock.now().time.description
      .prefix { $0 != "." }.filter { $0.isLetter || $0.isNumber }
    try onJournal { () throws(JournalError) in
      _ = try Journal.setAside(
        path, identity, reason: unusable.link.cause.description, time: time + "Z",
        options: options)
    }
  }

  private static func onJournal<Value>(_ work: () throws(JournalError) -> Value)
    throws(SessionError) -> Value
  {
    do throws(JournalError) { return try work() } catch { throw .journal(error) }
  }

  nonisolated private func notes(of journal: Journal, at now: ClockReading) -> [SessionNote] {
    var notes: [SessionNote] = []
    if let repair = journal.recovery.repair, let cut = SessionNote.TailCut(repair.ending) {
      notes.append(.tailCut(cut))
    }
    notes.append(
      .opened(
        SessionNote.Opened(
          process: presence.process, boot: configuration.clock.boot, uptime: now.uptime,
          app: configuration.appVersion, identity: presence.identity, platform: .current)))
    if journalSetAside != nil, let predecessor { notes.append(.continued(predecessor.link)) }
    return notes
  }

  /// Returns what is left of another journal's session, with its token, if this journal should
  /// continue it.
  func stray(beside facts: inout StoredItemsReport) throws(SecretStoreError) -> OrphanedSession? {
    guard coordinator.fold.generation == .none else { return nil }
    if facts.token == .otherJournal, let items = try vault.stray(),
      let stray = OrphanedSession(
        items, after: predecessor, isRenewed: configuration.tokenSource != nil)
    {
      requests.responses[.stray] = TokenResponse(items)
      facts.sessionEnd = items.token.sessionEnd
      return stray
    }
    guard let predecessor else { return nil }
    let owner = try vault.userItemJournal()
    return OrphanedSession(
      expiredIn: predecessor,
      hasUserItem: owner != nil && owner == predecessor.link.journal?.description)
  }
}

extension SessionError {
  static let otherLogProblem =
    "its records do not belong to a session, and a session needs its own file"

  /// Whether the journal's file can be read but is of no use to this version.
  fileprivate var isOfUnusableJournal: Bool {
    switch failure {
    case .journal(let error): error.isOfUnusableFile
    // Another log may hold the user's work, so it stays in its place.
    case .unusableJournal(_, _, let problem): problem != Self.otherLogProblem
    default: false
    }
  }
}

/// A journal that could not be used and was moved aside.
///
/// A new journal continues its session.
///
/// - Requirement: RES-6
package struct JournalQuarantine: Hashable, Sendable {
  /// The path of the file.
  ///
  /// Only `Journal.delete` and the app remove it.
  package let path: String
  /// Why it could not be used.
  package let cause: ContinuationCause
  /// The sequence of the last record that could be read; 0 if none could.
  package let lastSequence: UInt64

  init(_ predecessor: QuarantinedJournal) {
    path = predecessor.path
    cause = predecessor.link.cause
    lastSequence = predecessor.link.sequence
  }
}
