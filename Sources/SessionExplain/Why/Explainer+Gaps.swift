@_spi(Internals) import SessionCore

// The limits of an explanation with gaps: nothing is proven or ruled out across a gap (RPL-6).
extension ExplanationDraft {
  /// Removes findings that rely on records on both sides of a gap, or on the absence of records
  /// there.
  mutating func limitByGaps() {
    for gap in evidence.gaps + evidence.gapsAfter {
      explanation.untold.append(gap.untold)
    }
    guard let gap = evidence.gaps.last?.after else { return }
    explanation.ruledOut.removeAll { ($0.searched?.lowerBound ?? 0) <= gap }
    let unsure = explanation.proven.filter { ($0.sequences.min() ?? 0) <= gap }
    explanation.proven.removeAll { ($0.sequences.min() ?? 0) <= gap }
    explanation.inferred += unsure
    for index in explanation.inferred.indices { explanation.inferred[index].certainty = .possible }
    for index in explanation.alsoSeen.indices where explanation.alsoSeen[index].reaches(gap) {
      explanation.alsoSeen[index].certainty = .possible
    }
    if !isSaidByItsRecords(after: gap) { explanation.certainty = .possible }
  }

  /// Returns whether the records of the end itself state the cause, without any history.
  private func isSaidByItsRecords(after gap: UInt64) -> Bool {
    guard explanation.certainty == .proven, let place = evidence.place, place.batch > gap else {
      return false
    }
    switch explanation.cause {
    case .accountDeleted, .accountInactive, .otherUser, .noRefreshToken,
      .secretsMissing, .secretUnreadable, .secretsOutdated, .secretsNewer, .endedByServer:
      return true
    // This relies on an absence in the batch; records lost directly before it may belong to it.
    case .secretsAhead: return evidence.lastBefore.map { $0.sequence > gap } ?? false
    // A lost rejection may have reported a reuse before. A lost expiry may have come before the
    // logout.
    case .familyRevoked, .revokedElsewhere, .refreshTokenExpired, .unknownToServer, .refused,
      .userLogout, .userLogoutAfterExpiry, .lostReply, .answerNotStored, .killedInRefresh,
      .suspendedInRefresh, .usedElsewhere,
      .serverFailing, .rateLimited, .refreshingTooOften, .answersUnreadable, .appRefused,
      .endpointMissing, .attemptsExhausted, .tokenExpired, .expiredOnArrival, .clockForward,
      .inactive, .lifetimeOver, .unexplained, .stillOffline, .stillIntercepted, .stillServerFailing,
      .stillSecretsLocked, .stillRequestOpen, .stillSignedIn, .neverSignedIn, .endedBefore,
      .journalReplaced:
      return false
    case .switchRefused, .switchLost, .notRevoked, .revocationDone, .takenOver, .refreshFailed,
      .tokenRecovered, .tailCut, .itemUnreadable, .storageFailed, .leftoversWiped,
      .journalContinued:
      return explanation.cause != .takenOver && explanation.cause != .switchLost
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
