@_spi(Internals) import SessionCore

/// The function from evidence to an explanation, by the rules of `Specs/Why.md`.
///
/// It is total and has no side effects.
package enum Explainer {
  /// Explains the evidence; `journal` has the names that the explanation shows.
  package static func explain(
    _ evidence: Evidence, in journal: JournalNames = JournalNames()
  ) -> Explanation {
    var draft = ExplanationDraft(evidence, in: journal, isBrief: false)
    return draft.explain()
  }

  /// Explains the evidence as ``explain(_:in:)`` does, without what only an answer in words needs.
  ///
  /// The result has the cause, its certainty, the reason, and the states. A test compares it.
  package static func judge(_ evidence: Evidence) -> Explanation {
    var draft = ExplanationDraft(evidence, in: JournalNames(), isBrief: true)
    return draft.explain()
  }
}

/// An explanation that is being built.
struct ExplanationDraft {
  let evidence: Evidence
  let journal: JournalNames
  /// Whether findings are left out that no rule reads.
  let isBrief: Bool
  var explanation: Explanation
  /// Whether requests with older tokens belong to the chain.
  var showsEarlier = false
  /// Whether the openings belong to the chain.
  var showsOpenings = false
  /// Whether later records belong to the chain.
  var showsAftermath = false

  init(_ evidence: Evidence, in journal: JournalNames, isBrief: Bool) {
    (self.evidence, self.journal, self.isBrief) = (evidence, journal, isBrief)
    var explanation = Explanation(
      cause: .unexplained, certainty: .possible, before: evidence.before,
      after: evidence.trail.fold.kind)
    explanation.sequence = evidence.place?.sequence
    explanation.time = evidence.place?.time
    let device = evidence.trail.device
    explanation.origin = Explanation.Origin(
      app: device.app?.description, platform: device.platform?.metricLabel,
      user: device.user.flatMap(journal.user), journal: journal.journal)
    explanation.compactedBefore = evidence.trail.compactedBefore
    explanation.signedInAgain = evidence.signedInAgain
    self.explanation = explanation
  }

  /// Explains the subject by the rules of its family, then by those of every explanation.
  mutating func explain() -> Explanation {
    switch evidence.subject {
    case .end: explainEnd()
    case .open: explainOpen()
    case .record(let fact): explainRecord(fact)
    }
    hedge()
    if !isBrief {
      addClocks()
      addStorage()
      addThreshold()
      addGaps()
    }
    limitByGaps()
    if !isBrief { addChain() }
    return explanation
  }

  // MARK: Building blocks

  mutating func conclude(_ cause: Cause, _ certainty: Certainty, _ headline: [Value] = []) {
    explanation.cause = cause
    explanation.certainty = certainty
    explanation.headline = headline
  }

  mutating func prove(_ what: FindingWord, _ values: [Value] = [], on facts: Fact?...) {
    guard !isBrief else { return }
    explanation.findings.proven.append(
      Finding(what, .proven, values, on: facts.compactMap { $0?.sequence }))
  }

  mutating func infer(
    _ what: FindingWord, _ certainty: Certainty, _ values: [Value] = [], on facts: Fact?...
  ) {
    explanation.findings.inferred.append(
      Finding(what, certainty, values, on: facts.compactMap { $0?.sequence }))
  }

  mutating func maybe(_ words: FindingWord...) {
    for what in words where !explanation.findings.inferred.contains(where: { $0.what == what }) {
      explanation.findings.inferred.append(Finding(what, .possible))
    }
  }

  mutating func ruleOut(
    _ what: FindingWord, _ values: [Value] = [], on facts: Fact?...,
    searched: ClosedRange<UInt64>? = nil
  ) {
    guard !isBrief else { return }
    explanation.findings.ruledOut.append(
      Finding(what, .proven, values, on: facts.compactMap { $0?.sequence }, searched: searched))
  }

  mutating func leaveUntold(_ words: UntoldWord...) {
    for what in words where !isBrief && !explanation.findings.untold.contains(Untold(what)) {
      explanation.findings.untold.append(Untold(what))
    }
  }

  mutating func advise(_ what: AdviceWord, _ values: [Value] = []) {
    guard !isBrief, !explanation.findings.advice.contains(Advice(what, values)) else { return }
    explanation.findings.advice.append(Advice(what, values))
  }

  /// Shows the recorded code in the summary.
  mutating func showCode(_ failure: RequestFailure?) {
    guard let code = failure?.serverCode, code != RequestFailure.codeNotKept else { return }
    explanation.code = code
  }

  // MARK: Parts of most explanations

  var trail: SessionTrail { evidence.trail }
  var token: TokenHistory? { trail.tokens.current }
  var endTime: Timestamp { evidence.place?.time ?? Timestamp(milliseconds: 0) }
  var endSequence: UInt64 { evidence.place?.sequence ?? 0 }

  /// Returns the range from a record to the one that is explained.
  func range(from start: UInt64) -> ClosedRange<UInt64> { min(start, endSequence)...endSequence }

  mutating func ruleOutUser() {
    // A logout may be among the bytes that were cut off.
    guard !trail.losses.hasDoubtfulCut else { return }
    let start = trail.start
    ruleOut(.noLogoutByApp, [.place(start)], searched: range(from: start))
  }

  mutating func ruleOutLocalExpiry() {
    guard let token, token.facts.isLifetimeKnown else { return }
    let left = token.facts.expiresAt.milliseconds(since: endTime)
    // A clock that was set back makes the remaining time too long, even longer than the lifetime.
    let isSetBack = trail.clock.mayGoBack(behind: token.announced?.sequence ?? 0)
    if left > 0, left <= token.facts.lifetimeMilliseconds, !isSetBack {
      ruleOut(.tokenHadLife, [.token(token.generation), .span(left)], on: token.announced)
    } else if token.facts.isRefreshable {
      ruleOut(.tokenRefreshable, [.token(token.generation)], on: token.announced)
    }
  }

  /// Rules out a change of the clock if openings agree; `moment` is a time that they must cover.
  mutating func ruleOutClock(to moment: Timestamp? = nil) {
    let clock = trail.clock
    guard let last = clock.lastAgreeing, clock.jumps.isEmpty, !clock.hasOtherBoots,
      !clock.hasUnnamedBoots, clock.skew == nil, clock.deviation <= ClockTrail.tolerance
    else {
      guard clock.jumps.isEmpty, clock.skew == nil else { return }
      if clock.deviation > ClockTrail.tolerance {
        explanation.findings.untold.append(Untold(.clocksDrift, [.span(clock.deviation)]))
      } else if clock.hasOtherBoots {
        leaveUntold(.startedAnew)
      } else if clock.hasUnnamedBoots {
        leaveUntold(.startUnnamed)
      } else {
        leaveUntold(.oneOpeningOnly)
      }
      return
    }
    // If a token expired by the clock, a change after the last opening would not be visible.
    if let moment, last.time < moment {
      explanation.findings.untold.append(Untold(.clockSince, [.place(last.sequence)]))
      return
    }
    ruleOut(
      .clockAgrees,
      [
        .number(clock.agreeing + 1), .place(clock.firstAgreeing), .place(last.sequence),
        .span(clock.deviation),
      ], searched: min(clock.firstAgreeing, last.sequence)...last.sequence)
  }

  mutating func ruleOutStorage() {
    guard let login = trail.login, trail.remarks.count < SessionTrail.keptRemarks,
      trail.storage.runs.isEmpty,
      !trail.remarks.contains(where: \.isOfStorage)
    else { return }
    // The process may be of a version without such notes, so their absence proves nothing.
    guard trail.storage.isWhole else { return leaveUntold(.secretStore) }
    ruleOut(
      .nothingUnreadable, [.place(login.sequence)], searched: range(from: login.sequence))
  }

  /// All requests since the login; `nil` if one is missing, or if there was none.
  ///
  /// A server that receives an older token again may end the session, so every token matters.
  ///
  /// - Requirement: RPL-6
  var wholeRequests: (count: UInt64, kept: [RequestTrace], senders: RequestSenders)? {
    guard let token, token.isComplete, trail.tokens.earlier.isWhole else { return nil }
    let count = trail.tokens.earlier.count + UInt64(token.requests.count)
    guard count > 0 else { return nil }
    var senders = trail.tokens.earlier.senders
    for request in token.requests { senders.add(request) }
    return (count, trail.tokens.earlier.requests + token.requests, senders)
  }

  mutating func ruleOutOtherProcess() {
    guard let login = trail.login, let all = wholeRequests, all.senders.isOne,
      let process = all.senders.process
    else { return }
    ruleOut(
      .oneProcess,
      [.counted(all.count, "request"), .place(login.sequence), .process(process)],
      searched: range(from: login.sequence))
  }

  mutating func ruleOutLostReply() {
    guard let login = trail.login, let all = wholeRequests,
      all.kept.allSatisfy({ !$0.isLost && !$0.isDubious })
    else { return }
    ruleOut(
      .everyRequestAnswered, [.counted(all.count, "request"), .place(login.sequence)],
      searched: range(from: login.sequence))
  }

  mutating func ruleOutRefusal() {
    guard let token, token.isWhole, !token.failures.kinds.keys.contains(where: \.isFinal) else {
      return
    }
    ruleOut(
      .noRefusalOfUser, [.token(token.generation)],
      searched: token.announced.map { range(from: $0.sequence) })
  }

  /// Rules out user action, local expiry, another process, the clock and storage, if possible.
  mutating func ruleOutTheUsual() {
    ruleOutUser()
    ruleOutLocalExpiry()
    ruleOutOtherProcess()
    ruleOutClock()
    ruleOutStorage()
  }

  /// Advises to read the server's log near a record.
  mutating func adviseServerLog(near fact: Fact?) {
    guard let fact else { return }
    advise(.serverLogNear, [.time(fact.time)])
    if let id = token?.facts.id { advise(.serverLogForToken, [.word(id.description)]) }
  }

  /// Adds that the secrets may be elsewhere: only Apple's systems have access groups.
  mutating func maybeAccessLost() {
    infer(.accessLost, .possible, [.word(trail.device.isServer ? "folder" : "access group")])
  }

  /// Advises to look at the place of the secrets; what can be wrong there depends on the system.
  mutating func adviseStore() {
    advise(
      .checkStore,
      [
        .word(
          trail.device.isServer
            ? "its free space, and whether the user of the process may read and write it (ls -ln)"
            : "its free space, its access rights, and whether it was locked")
      ])
  }

  static func words(_ failure: RequestFailure) -> Value { .word(FailureFormatter.text(failure)) }

  // MARK: The end of every explanation

  /// Lowers the certainty: an end may be in damaged bytes, in a tail that was cut off, or in a gap.
  private mutating func hedge() {
    let mayHideAnEnd =
      evidence.damagedAt != nil || trail.losses.hasDoubtfulCut || !trail.losses.gaps.isEmpty
    guard mayHideAnEnd, explanation.cause.class == .still else { return }
    explanation.certainty = .possible
    explanation.findings.proven.removeAll { $0.what == .nobodySignedOut || $0.what == .nobodyEnded }
    explanation.findings.ruledOut.removeAll { $0.what == .noEnd }
  }

  private mutating func addClocks() {
    let start = trail.start
    for jump in trail.clock.jumps where jump.to > start { alsoSee(Self.finding(jump)) }
    if let skew = trail.clock.skew, skew.magnitude > UInt64(ClockTrail.tolerance) {
      alsoSee(
        Finding(
          skew > 0 ? .serverClockBehind : .serverClockAhead, .proven,
          [.span(Int64(clamping: skew.magnitude)), .place(trail.clock.skewPlace)],
          on: [trail.clock.skewPlace]))
    }
  }

  /// Returns the finding for a jump of the clock.
  static func finding(_ jump: ClockTrail.Jump) -> Finding {
    let span = Value.span(Int64(clamping: jump.span.magnitude))
    let sequences = [jump.from, jump.to]
    guard !jump.isStepBack else {
      return Finding(.clockWentBack, .proven, [.place(jump.to), span], on: sequences)
    }
    return Finding(
      jump.span > 0 ? .clockSetForward : .clockSetBack, .proven,
      [span, .place(jump.from), .place(jump.to)], on: sequences)
  }

  /// Adds the failures of the secret store in this session.
  private mutating func addStorage() {
    for run in trail.storage.runs {
      let words = Value.word(NoteFormatter.storage(run.failed))
      alsoSee(
        Finding(
          .storeFailed, .proven, [.place(run.fact.sequence), words], on: [run.fact.sequence]))
      guard let recovered = run.recovered else { continue }
      alsoSee(
        Finding(
          .storeRecovered, .proven, [.place(recovered.sequence)], on: [recovered.sequence]))
    }
  }

  private mutating func addThreshold() {
    let schedule = trail.schedule
    guard schedule.early >= 3, schedule.early * 2 >= schedule.count,
      !trail.clock.jumps.contains(where: { $0.span < 0 }),
      explanation.cause != .refreshingTooOften
    else { return }
    explanation.findings.alsoSeen.append(tooLongThreshold)
    // Early refreshes cost requests. Nothing else follows from them.
    guard token?.failures.kinds[.rateLimited] != nil else { return }
    advise(.shorterThreshold, [.span(schedule.longestLife)])
  }

  var tooLongThreshold: Finding {
    let schedule = trail.schedule
    return Finding(
      .thresholdTooLong, .likely,
      [.number(schedule.early), .number(schedule.count), .span(schedule.longestLife)],
      on: [schedule.lastEarly?.sequence].compactMap { $0 })
  }

  private mutating func alsoSee(_ finding: Finding) {
    guard !explanation.findings.proven.contains(finding) else { return }
    explanation.findings.alsoSeen.append(finding)
  }

  private mutating func addGaps() {
    if trail.login == nil, let gone = trail.compactedBefore {
      explanation.findings.untold.append(Untold(.beforeCompaction, [.place(gone + 1)]))
    }
    if trail.login == nil, let continued = trail.continued {
      explanation.findings.untold.append(Untold(.otherJournal, [.place(continued.sequence)]))
      if case .continued(let link)? = continued.note, link.cause != .lost { advise(.setAsideCopy) }
    }
    if let login = trail.login, case .login(let facts)? = login.event, facts.method == .adoption,
      token?.announced == login
    {
      leaveUntold(.adoptedBefore)
    }
    for remark in trail.remarks {
      if case .tailCut(let cut)? = remark.note, cut.isUndetermined {
        explanation.findings.untold.append(Untold(.cutTail, [.place(remark.sequence)]))
      }
    }
    if !trail.losses.isWhole { leaveUntold(.newerRecords) }
    if let offset = evidence.damagedAt, trail.losses.gaps.isEmpty, evidence.gapsAfter.isEmpty {
      explanation.findings.untold.append(Untold(.behindDamage, [.number(offset)]))
    }
  }
}
