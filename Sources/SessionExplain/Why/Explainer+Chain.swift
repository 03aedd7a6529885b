@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// Adds the records that led to the subject, the newest first and without duplicates.
  mutating func addChain() {
    var links: [UInt64: Explanation.Link] = [:]
    let first = trail.firstSequence
    func add(_ fact: Fact?, _ role: Explanation.Role) {
      guard let fact, links[fact.sequence] == nil else { return }
      links[fact.sequence] = Explanation.Link(
        fact: fact, role: role, isInFile: fact.sequence >= first)
    }
    if case .open = evidence.subject {
      add(trail.losses.end, .remark)
      addRequests(add)
    } else {
      add(evidence.place, .end)
      for fact in evidence.batch { add(fact, .decided) }
      if evidence.before == .authenticated || explanation.cause.class == .event {
        addRequests(add)
      }
    }
    if showsOpenings {
      for fact in trail.openings.suffix(4) { add(fact, .opening) }
      for fact in trail.remarks { add(fact, .remark) }
    }
    if showsAftermath {
      for fact in evidence.aftermath where isAbout(fact) { add(fact, .behind) }
    }
    add(token?.announced, .token)
    if token?.announced == nil { add(trail.login, .token) }
    explanation.chain = links.values.sorted { $0.fact.sequence > $1.fact.sequence }
    explanation.omitted = token?.omitted ?? 0
  }

  private func addRequests(_ add: (Fact?, Explanation.Role) -> Void) {
    guard let token else { return }
    let earlier = showsEarlier ? trail.tokens.earlier.requests.suffix(Self.shownEarlier) : []
    for request in earlier + token.requests {
      add(request.sent, .request)
      add(request.end, .outcome)
      add(request.late, .outcome)
      add(request.dropped, .outcome)
    }
    let failures = token.failures
    for fact in [
      failures.firstAnswered, failures.lastAnswered, failures.lastUnanswered, failures.firstReuse,
    ] {
      add(fact, .outcome)
    }
  }

  /// Returns whether a later record is about the same thing as the record that is explained.
  private func isAbout(_ fact: Fact) -> Bool {
    switch fact.record.content {
    case .event(let event):
      switch event {
      case .refreshSucceeded, .login, .sessionExpired, .logout: true
      case .refreshFailed, .contextSwitched: false
      }
    case .note(let note):
      switch note {
      case .revocationSettled, .requestEnded, .answerUnused: true
      default: false
      }
    case .snapshot, .unknown: false
    }
  }
}
