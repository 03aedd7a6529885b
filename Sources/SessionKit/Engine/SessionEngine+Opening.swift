@_spi(Internals) package import SessionCore
import SessionJournal

/// Opening: folds the journal at a path into an engine, and quarantines a journal that cannot be
/// used.
extension SessionEngine {
  /// Opens the log and folds it, on a thread that may wait for the disk.
  ///
  /// If another opening has the log, this is tried again until the log's deadline.
  static func load(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    async throws(SessionError) -> LoadedSession
  {
    try await runtime.result(within: configuration.place.deadline) {
      () throws(SessionError) -> LoadedSession in
      try configuration.place.prepare(for: configuration.secrets)
      return try make(configuration, runtime)
    }
  }

  private static func make(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    throws(SessionError) -> LoadedSession
  {
    if let refusal = openingRefusal(configuration) { throw refusal }
    guard configuration.policy.recovery.unusableJournal == .setAside,
      let quarantine = configuration.place.quarantine
    else {
      return try fold(configuration, runtime)
    }
    // Repeated, because peers may quarantine the same journal, and the journal that they create may
    // be unusable too.
    for _ in 0..<5 {
      let mark = try onLog { () throws(JournalError) in try quarantine.mark() }
      do throws(SessionError) {
        return try fold(configuration, runtime)
      } catch {
        // The file disappeared between the check and the opening, so peers have quarantined it.
        if case .missing? = error.journalError, mark != nil { continue }
        guard error.isOfUnusableJournal, let mark else { throw error }
        let time = configuration.clock.now().time.description
          .prefix { $0 != "." }.filter { $0.isLetter || $0.isNumber }
        try quarantine.setAside(mark, at: time + "Z")
      }
    }
    return try fold(configuration, runtime)
  }

  private static func fold(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    throws(SessionError) -> LoadedSession
  {
    let place = configuration.place
    var records = FoldedRecords(configuration)
    let opened = try onLog { () throws(JournalError) -> OpenedLog in
      if let read = try place.read(replay: { records.take($0, $1) }) { return read }
      records = FoldedRecords(configuration)
      return try place.open { records.take($0, $1) }
    }
    let fold: SessionFold
    let predecessor: QuarantinedJournal?
    do throws(SessionError) {
      fold = try records.fold()
      predecessor = fold.generation == .none ? try place.quarantine?.predecessor() : nil
    } catch let failure {
      try onLog { () throws(JournalError) in try opened.log.close() }
      throw failure
    }
    let (clock, now) = (configuration.clock, configuration.clock.now())
    let engine = SessionEngine(
      configuration, log: opened.log, fold: fold, plan: records.plan, runtime: runtime,
      presence: place.beginPresence(boot: clock.boot),
      predecessor: predecessor, continuesAnother: records.continuesAnother,
      lastEnd: records.lastEnd, endedProcesses: records.ended.count,
      storers: (fold.generation, records.storers), provenSequence: opened.provenSequence)
    return LoadedSession(
      engine: engine, notes: engine.notes(of: opened, at: now), debt: records.debt,
      isClockSet: records.lastOpening.isClockSet(at: now, boot: clock.boot))
  }

  private static func onLog<Value>(_ work: () throws(JournalError) -> Value)
    throws(SessionError) -> Value
  {
    do throws(JournalError) { return try work() } catch { throw .journal(error) }
  }

  nonisolated private func notes(of opened: OpenedLog, at now: ClockReading) -> [SessionNote] {
    var notes: [SessionNote] = []
    if let cut = opened.tailCut { notes.append(.tailCut(cut)) }
    notes.append(
      .opened(
        SessionNote.Opened(
          process: presence.process, boot: configuration.clock.boot, uptime: now.uptime,
          app: configuration.appVersion, identity: presence.identity, platform: .current,
          policy: RecordedPolicy(configuration.policy))))
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

/// What an opening takes from the records of its log.
private struct FoldedRecords {
  private(set) var debt = PendingDataClearing()
  private(set) var lastEnd = LastEnd()
  private(set) var ended = EndedProcesses()
  private(set) var storers = TokenStorers()
  private(set) var lastOpening = LastOpening()
  private(set) var plan: RetentionPlan?
  /// The journal itself says so, since the quarantined file may have been removed since.
  private(set) var continuesAnother = false
  /// Why the records cannot be folded; `nil` as long as they can.
  private(set) var failure: SessionError?

  private var payloads = PayloadFold()
  private let name: String
  private let hasLocalData: Bool

  init(_ configuration: SessionConfiguration) {
    name = configuration.place.name
    hasLocalData = configuration.hasLocalData
    plan = configuration.retention.map { RetentionPlan($0) }
  }

  mutating func take(_ record: RecordHeader, _ payload: RawSpan) {
    guard failure == nil else { return }
    do throws(SessionError) {
      guard record.kind != SessionRecord.movedKind, record.kind != SessionRecord.movedGuardKind
      else { throw .movedAway(from: name) }
      guard !OtherLogRecords.contains(kind: record.kind, payload: payload) else {
        throw .unusableJournal(
          path: name, sequence: record.sequence, problem: SessionError.otherLogProblem)
      }
      let time = try payloads.apply(record, payload, path: name)
      if record.kind == SessionNote.Kind.continued.rawValue { continuesAnother = true }
      if hasLocalData { debt.take(record, payload) }
      lastEnd.take(record, payload)
      ended.take(record, payload)
      storers.take(record, payload)
      lastOpening.take(record, payload, at: time)
      plan?.take(
        record.kind, sequence: record.sequence, at: time, leaving: payloads.intents,
        bytes: JournalFrame.bytes(of: payload.byteCount))
    } catch {
      failure = error
    }
  }

  mutating func fold() throws(SessionError) -> SessionFold {
    if let failure { throw failure }
    let fold = try payloads.fold(path: name)
    lastEnd.pass(to: fold.eventSequence)
    return fold
  }
}

/// An engine that has folded its log, and what it found there.
struct LoadedSession: Sendable {
  let engine: SessionEngine
  let notes: [SessionNote]
  let debt: PendingDataClearing
  let isClockSet: Bool
}

extension SessionError {
  static let otherLogProblem =
    "its records do not belong to a session, and a session needs its own file"

  /// Whether the journal's file can be read but is of no use to this version.
  fileprivate var isOfUnusableJournal: Bool {
    // Another log may hold the user's work, so it stays in its place.
    journalError?.isOfUnusableFile
      ?? (failure == .unusableJournal && row.detail != Self.otherLogProblem)
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
