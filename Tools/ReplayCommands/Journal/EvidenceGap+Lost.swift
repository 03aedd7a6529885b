internal import SessionExplain
internal import SessionJournal

extension EvidenceGap {
  init(_ range: LostRange, after last: UInt64) {
    self.init(
      after: last, offset: range.offsets.lowerBound,
      bytes: range.offsets.upperBound - range.offsets.lowerBound, sequences: range.sequences)
  }

  /// `96 bytes lost (seq 10)`, as `timeline` prints it.
  var words: String {
    if isLeftOut, let sequences {
      return "the event @\(sequences.lowerBound) is not possible here, and is left out"
    }
    if bytes == 0, let sequences {
      return sequences.count == 1
        ? "record @\(sequences.lowerBound) is missing"
        : "records @\(sequences.lowerBound) to @\(sequences.upperBound) are missing"
    }
    let text = count(bytes, "byte") + " lost"
    guard let sequences else { return text }
    return text
      + (sequences.count == 1
        ? " (seq \(sequences.lowerBound))"
        : " (seq \(sequences.lowerBound) to \(sequences.upperBound))")
  }
}
