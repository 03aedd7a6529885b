/// The decision of recovery: a pure function from what was read to what it means
/// (Specs/JournalFormat.md, "Verdicts").
enum Verdict {
  /// What stands behind the whole prefix that ends at `whole`, given the first frame that does not
  /// count and what a search behind it found.
  static func decide(
    _ stop: FrameScanner.Stop, behind whole: FramePosition, _ evidence: TailSearch.Evidence
  ) -> JournalEnding {
    if evidence.provesAcknowledged {
      return .damaged(
        JournalDamage(offset: stop.offset, sequence: stop.sequence, flaw: stop.flaw))
    }
    let isOnlyZeros = evidence.significantEnd == stop.offset
    // Nothing was ever written here: room that a writer left, or size without data after a power cut.
    if isOnlyZeros, stop.offset == whole.offset { return .clean }
    // The file was cut again while it was being looked at.
    if evidence.end <= whole.offset { return .clean }
    let tail = JournalTail(
      offset: whole.offset, sequence: whole.sequence, bytes: evidence.end - whole.offset,
      flaw: isOnlyZeros && !stop.flaw.isEndOfFile ? .onlyZeros : stop.flaw,
      significantBytes: min(evidence.significantEnd, evidence.end) - whole.offset)
    return stop.flaw.isEndOfFile || isOnlyZeros ? .torn(tail) : .undetermined(tail)
  }
}
