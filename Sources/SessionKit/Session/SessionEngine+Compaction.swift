@_spi(Internals) import SessionCore
import SessionJournal

/// Compacting: what is due is tried, and whatever comes of it, the session goes on.
extension SessionEngine {
  /// Milliseconds before compacting is tried again after it failed.
  static let compactionPause: Int64 = 3_600_000

  /// Compacts the journal if it is time; what others appended meanwhile, if anything.
  func compactIfDue() -> SessionInput? {
    tellPlan()
    let now = configuration.clock.now()
    guard let first = plan?.firstKept,
      plan?.isDue(at: now.time) == true, now.uptime >= nextCompaction,
      coordinator.isOpen, coordinator.fold.isWhole, !owesClearing
    else { return nil }
    let problem = compactionProblem
    defer { if compactionProblem != problem { show() } }
    let beginning = journal.firstSequence
    do throws(JournalError) {
      let done = try configuration.compaction(journal, first)
      compactionProblem = nil
      // Where others have compacted it meanwhile, the plan learns so before it is asked again.
      if journal.firstSequence == beginning { pause(from: now) }
      let others = read(done?.foreign ?? [])
      return others.isEmpty ? nil : .observed(others, isHolderGone: false)
    } catch {
      compactionProblem = .journal(error)
      pause(from: now)
      return nil
    }
  }

  /// Whether the host has data to clear: the logout that says so stays in the file.
  private var owesClearing: Bool { needsDataClearing }

  private func pause(from now: ClockReading) {
    nextCompaction = now.uptime.addingSaturating(Self.compactionPause)
  }

  /// The truth about the file is the file: what is gone from it goes first, while its place is known.
  private func tellPlan() {
    plan?.forget(before: journal.firstSequence)
    for (record, bytes) in retentionBacklog { plan?.take(record, bytes: bytes) }
    retentionBacklog = []
  }
}
