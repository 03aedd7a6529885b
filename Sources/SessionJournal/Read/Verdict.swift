/// The decision of recovery, as a pure function (Specs/JournalFormat.md, "Verdicts").
enum Verdict {
  /// Decides how a file ends whose whole prefix ends at `whole`.
  ///
  /// `stop` is the first frame that does not count; `evidence` is what a search after it found.
  static func decide(
    _ stop: FrameScanner.Stop, after whole: FramePosition, _ evidence: TailSearch.Evidence
  ) -> JournalEnding {
    if evidence.provesAcknowledged {
      return .damaged(
        JournalDamage(offset: stop.offset, sequence: stop.sequence, flaw: stop.flaw))
    }
    let isOnlyZeros = evidence.significantEnd == stop.offset
    // If a disk returned zeros for the last acknowledged commits, that would look like room too. It
    // is accepted: a commit that no later frame vouches for looks like a torn write without room as
    // well.
    // Nothing was written here: preallocated room, or size without data after a power cut.
    if isOnlyZeros, stop.offset == whole.offset { return .clean }
    // The file was cut during the search.
    if evidence.end <= whole.offset { return .clean }
    let tail = JournalTail(
      offset: whole.offset, sequence: whole.sequence, bytes: evidence.end - whole.offset,
      flaw: isOnlyZeros && !stop.flaw.isEndOfFile ? .onlyZeros : stop.flaw,
      significantBytes: min(evidence.significantEnd, evidence.end) - whole.offset)
    return stop.flaw.isEndOfFile || isOnlyZeros ? .torn(tail) : .undetermined(tail)
  }
}
