@_spi(Internals) import SessionCore

// The limits of an explanation with gaps: nothing is proven or ruled out across a gap (RPL-6).
extension ExplanationDraft {
  /// Removes findings that rely on records on both sides of a gap, or on the absence of records
  /// there.
  mutating func limitByGaps() {
    for gap in trail.losses.gaps + evidence.gapsAfter {
      explanation.findings.untold.append(gap.untold)
    }
    // The first record that is lost: the first batch of the file may be, and a search may begin there.
    guard let last = trail.losses.gaps.last?.after else { return }
    let gap = last.addingSaturating(1)
    explanation.findings.ruledOut.removeAll { ($0.searched?.lowerBound ?? 0) <= gap }
    let unsure = explanation.findings.proven.filter { ($0.sequences.min() ?? 0) <= gap }
    explanation.findings.proven.removeAll { ($0.sequences.min() ?? 0) <= gap }
    explanation.findings.inferred += unsure
    for index in explanation.findings.inferred.indices {
      explanation.findings.inferred[index].certainty = .possible
    }
    for index in explanation.findings.alsoSeen.indices
    where explanation.findings.alsoSeen[index].reaches(gap) {
      explanation.findings.alsoSeen[index].certainty = .possible
    }
    if !isSaidByItsRecords(after: gap) { explanation.certainty = .possible }
  }

  /// Returns whether the records of the end itself state the cause, without any history.
  private func isSaidByItsRecords(after gap: UInt64) -> Bool {
    guard explanation.certainty == .proven, let place = evidence.place, place.batch > gap else {
      return false
    }
    return switch explanation.cause.reliance {
    case .ownRecords: true
    case .recordsBefore: evidence.lastBefore.map { $0.sequence > gap } ?? false
    case .history: false
    }
  }
}

extension EvidenceGap {
  /// The question that the gap leaves open.
  fileprivate var untold: Untold {
    if isLeftOut, let sequences { return Untold(.leftOut, [.place(sequences.lowerBound)]) }
    guard bytes == 0, let sequences else {
      return Untold(.lostBetween, [.counted(bytes, "byte"), .number(offset)])
    }
    return Untold(
      .missingRecords, [.place(sequences.lowerBound), .place(sequences.upperBound)])
  }
}

extension Finding {
  fileprivate func reaches(_ gap: UInt64) -> Bool { (sequences.min() ?? 0) <= gap }
}
