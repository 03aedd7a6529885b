@_spi(Internals) public import SessionCore

// Explanations from the records of a history, by the same search as `sessionreplay why`.
extension Explanation {
  /// Creates the explanation of the last end of a session in the history.
  ///
  /// A logout after an expiry ends nothing, so it explains the expiry then. If nothing ended, it
  /// explains how the session stands after the last record. Nothing is proven
  /// or ruled out across a place at which records are lost.
  /// - Requirement: RPL-8
  public init(of history: SessionHistory) {
    self = history.explanation(WhySearch())
  }

  /// Creates the explanation of a record, or of the last end at or before it.
  ///
  /// A record is explained itself if it is a failure, a logout or what an opening found. If nothing
  /// ended up to the record, it explains how the session stood there. `nil` if the history does not
  /// have the record: a snapshot has replaced it, or the last record comes before it.
  /// - Requirement: RPL-8
  public init?(of history: SessionHistory, at sequence: UInt64) {
    guard history.mayHave(sequence) else { return nil }
    self = history.explanation(WhySearch(target: sequence))
  }

  /// Returns the explanation of each end of a session in the history, the oldest first.
  ///
  /// An expiry and a logout are one end if they were written together. Otherwise they are two.
  /// Empty if nothing ended.
  /// - Requirement: RPL-8
  public static func ends(of history: SessionHistory) -> [Explanation] {
    var ends: [Explanation] = []
    let names = history.names
    var search = WhySearch(isAll: true)
    history.search(&search) { evidence in
      if case .end = evidence.subject { ends.append(Explainer.explain(evidence, in: names)) }
    }
    return ends
  }
}

extension SessionHistory {
  /// Returns whether the record is in the history, or lost among its records.
  fileprivate func mayHave(_ sequence: UInt64) -> Bool {
    let numbers = parts.compactMap { part -> UInt64? in
      guard case .record(let entry) = part else { return nil }
      return entry.record.sequence
    }
    guard let first = numbers.first, let last = numbers.last else { return false }
    return (first...max(first, last)).contains(sequence)
  }

  /// Returns the answer of a search for one explanation.
  fileprivate func explanation(_ start: WhySearch) -> Explanation {
    var search = start
    var found: Evidence?
    let open = self.search(&search) { found = $0 }
    var explanation = Explainer.explain(found ?? open ?? .ofNothing, in: names)
    search.addOthers(to: &explanation)
    return explanation
  }

  /// The names that explanations of the history show.
  fileprivate var names: JournalNames {
    JournalNames(journal: journal, pseudonyms: Pseudonyms(of: origin))
  }

  /// Passes on the evidence of what the search is for; returns that of the present
  /// session if nothing ended.
  @discardableResult
  fileprivate func search(_ search: inout WhySearch, _ body: (Evidence) -> Void) -> Evidence? {
    search: for part in parts {
      switch part {
      case .record(let entry):
        let goesOn = search.take(
          entry.record, endsBatch: entry.remainingInBatch == 0, offset: entry.offset, body)
        if !goesOn { break search }
      case .lost(let place):
        search.interrupt(
          EvidenceGap(
            after: search.last, offset: place.offset, bytes: place.bytes,
            sequences: place.sequences), body)
      }
    }
    // What is wrong after the records of the answer does not concern it.
    let unread = search.knownAt == nil ? search.fault?.offset ?? undeterminedAt : nil
    return search.finish(damagedAt: unread, body)
  }

  /// The offset of a commit that may have been acknowledged; `nil` if there is none.
  private var undeterminedAt: UInt64? {
    guard case .undetermined(let place) = ending else { return nil }
    return place.offset
  }
}

extension Evidence {
  /// The evidence of a journal without records.
  fileprivate static var ofNothing: Evidence {
    var fold = EvidenceFold()
    return fold.finish { _ in }
  }
}
