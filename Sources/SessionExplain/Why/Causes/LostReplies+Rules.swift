@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// Explains a rejected token if one or more requests with it had no answer before.
  ///
  /// These questions stay open:
  ///
  /// - Which of several requests it was.
  /// - What the server did if another answer does not show it.
  /// - Whether a context switch changed the token.
  mutating func explainLosses(
    _ losses: [RequestTrace], _ refusal: Fact, _ word: RefusalWord, _ token: TokenHistory
  ) {
    ruleOutTheUsual()
    for lost in losses { proveLoss(lost) }
    guard let lost = losses.last else { return }
    let dubious = token.lastDubious(before: refusal.sequence)
    let isWhole = token.isComplete
    // An answer that was noted late may have been given before the other request was sent.
    let isBehind = losses.contains { $0.number > refusal.answers ?? .max }
    let isOnly = losses.count == 1 && dubious == nil && !isBehind
    let isRefresh = lost.sent.requestSent?.kind == .refresh
    let certainty =
      isWhole && isOnly && isRefresh && word == .reused ? Certainty.likely : .possible
    let cause = isRefresh ? cause(of: lost) : .lostReply
    conclude(cause, mayBeOtherwise(lost, cause) ? .possible : certainty)
    for lost in losses {
      infer(
        isUnstored(lost) ? .rotatedAnswerDropped : .rotatedReplyLost, certainty,
        [.token(token.generation), .place(lost.number)], on: lost.sent, lost.end)
    }
    if cause == .suspendedInRefresh {
      infer(.answerHeldOnlyToken, certainty, [.place(lost.number)], on: lost.sent)
    }
    if let dubious { inferUnusable(dubious, token) }
    if word != .reused { maybe(.revokedAtServer, .expiredAtServer) }
    if !isWhole || isBehind { infer(.otherCopyUsed, .possible, [.token(token.generation)]) }
    ruleOutEarlierRefusal(losses[0], token)
    if cause == .suspendedInRefresh { advise(.longerGrace) }
    if cause == .killedInRefresh || cause == .suspendedInRefresh { adviseToFinish() }
    if cause == .answerNotStored { adviseStore() }
    if lost.dropped != nil || lost.wasClosed, cause == .answerNotStored { advise(.makeStorable) }
    advise(.serverGrace)
    adviseServerLog(near: lost.sent)
  }

  /// Explains a refused token if the response to an earlier refresh could not be read.
  ///
  /// The server answered that refresh with success. If it rotates, it had replaced the token.
  mutating func explainUnread(
    _ unread: RequestTrace, _ word: RefusalWord, _ token: TokenHistory
  ) {
    ruleOutTheUsual()
    let isSure = word == .reused && token.isComplete
    conclude(.answerNotRead, isSure ? .likely : .possible)
    inferUnusable(unread, token, isSure ? .likely : .possible)
    maybe(.wireDoesNotFit)
    if word != .reused { maybe(.revokedAtServer, .expiredAtServer) }
    infer(.otherCopyUsed, .possible, [.token(token.generation)])
    addEarlier()
    leaveUntold(.otherDevices)
    advise(.compareWire)
    advise(.serverGrace)
    if word == .notKept { advise(.nameCodes) }
    adviseServerLog(near: unread.sent)
  }

  /// Advises to let a process finish its refresh, as its system allows.
  private mutating func adviseToFinish() {
    advise(
      .finishInBackground,
      [
        .word(
          trail.device.isServer
            ? "close the session at the signal that ends the process (SIGTERM), and wait for it"
            : "ask the system for time when the app leaves the foreground (SessionLifecycle)")
      ])
  }

  /// Returns how it became known that no answer arrived, as far as the civil clock shows it.
  ///
  /// If that clock was set in between, it does not show whether this was before the deadline.
  func fate(of lost: RequestTrace) -> RequestTrace.Fate {
    guard case .lost(let how) = lost.fate, let end = lost.end,
      trail.clock.jumps.contains(where: { $0.to > lost.number && $0.from < end.sequence })
    else { return lost.fate }
    switch how {
    case .gone(let by): return .lost(by.isOpening ? .replaced(by: by) : .taken(by: by))
    case .overtaken(let by): return .lost(.taken(by: by))
    case .connection, .restarted, .replaced, .taken, .unnoted, .reopened: return lost.fate
    }
  }

  /// Returns whether the request's answer was not stored.
  ///
  /// Either a note says so, or the store could not write the token, or its process closed the
  /// journal. Earlier versions closed it during a request only in that case.
  private func isUnstored(_ lost: RequestTrace) -> Bool {
    lost.dropped != nil || lost.unwritten != nil || lost.wasClosed && lost.late == nil
  }

  private func cause(of lost: RequestTrace) -> Cause {
    if isUnstored(lost) { return .answerNotStored }
    return switch fate(of: lost) {
    case .lost(.gone), .lost(.restarted), .lost(.replaced):
      // A process that comes back has not ended.
      lost.late == nil ? .killedInRefresh : .lostReply
    case .lost(.overtaken), .lost(.taken): .suspendedInRefresh
    case .lost(.connection), .lost(.unnoted), .lost(.reopened), .open, .answered, .failed:
      .lostReply
    }
  }

  /// Returns whether something else than the cause may have happened to the process.
  private func mayBeOtherwise(_ lost: RequestTrace, _ cause: Cause) -> Bool {
    guard cause != .lostReply else { return false }
    if cause == .answerNotStored { return lost.dropped == nil && !lost.isUnwrittenAlone }
    switch fate(of: lost) {
    // A process that was replaced after the deadline may have been suspended as well.
    case .lost(.replaced), .lost(.taken): return true
    case .lost(.gone): return lost.wasReopened
    case .lost(.overtaken): return lost.late == nil && (lost.wasReopened || lost.sawClosing)
    case .lost(.restarted), .lost(.connection), .lost(.unnoted), .lost(.reopened), .open, .answered,
      .failed:
      return false
    }
  }

  /// Infers that the server may have rotated the token and sent an unusable answer.
  mutating func inferUnusable(
    _ dubious: RequestTrace, _ token: TokenHistory, _ certainty: Certainty = .possible
  ) {
    guard case .failed(let answer) = dubious.outcome else { return }
    infer(
      .rotatedAnswerUnusable, certainty,
      [.token(token.generation), .place(dubious.number), Self.words(answer)],
      on: dubious.sent, dubious.end)
  }

  private mutating func ruleOutEarlierRefusal(_ lost: RequestTrace, _ token: TokenHistory) {
    guard token.isWhole, let announced = token.announced,
      token.failures.refusedFrom.map({ $0 > lost.number }) != false
    else { return }
    ruleOut(
      .noRefusalBefore, [.token(token.generation), .place(lost.number)],
      searched: min(announced.sequence, lost.number)...lost.number)
  }

  // MARK: How it became known

  private mutating func proveLoss(_ lost: RequestTrace) {
    if proveDropping(of: lost) { return }
    _ = inferArrival(of: lost)
    switch fate(of: lost) {
    case .lost(.connection):
      proveNoReply(to: lost)
      ruleOutDeath(lost)
    case .lost(.unnoted), .open, .answered, .failed:
      proveNoEnd(lost)
    case .lost(.reopened):
      showsOpenings = true
      proveNoEnd(lost)
      maybeEnded(lost)
    case .lost(.gone(let by)), .lost(.restarted(let by)), .lost(.replaced(let by)):
      if lost.late != nil {
        showsOpenings = true
        proveTaking(of: lost, by)
        proveReturn(lost)
      } else if case .lost(.restarted) = lost.fate {
        proveRestart(lost, by)
      } else if case .lost(.gone) = fate(of: lost), !lost.wasReopened {
        proveDeath(lost)
      } else {
        proveReplacement(lost, by)
      }
    case .lost(.overtaken(let by)), .lost(.taken(let by)): proveOvertaking(lost, by)
    }
  }

  /// Proves that no response arrived, or that a response of success is not whole.
  mutating func proveNoReply(to lost: RequestTrace) {
    if let failure = lost.end?.failure, failure.status != 0 {
      prove(.replyCut, [.place(lost.number), .word("\(failure.status)")], on: lost.sent, lost.end)
    } else {
      prove(.noReplyTo, [.place(lost.number)], on: lost.sent, lost.end)
    }
  }

  /// Proves that the answer arrived and could not be stored; returns `false` without a note of it.
  mutating func proveDropping(of lost: RequestTrace) -> Bool {
    guard let dropped = lost.dropped, let note = dropped.answerDropped else { return false }
    prove(
      .answerDropped, [.place(lost.number), .word(NoteFormatter.obstacle(note.cause))],
      on: lost.sent, dropped)
    return true
  }

  /// Infers that the answer arrived, if the store could not write a token; returns whether it could
  /// not.
  mutating func inferArrival(of lost: RequestTrace) -> Bool {
    guard let unwritten = lost.unwritten, case .storageFailed(let failed)? = unwritten.note else {
      return false
    }
    prove(
      .storeFailed, [.place(unwritten.sequence), .word(NoteFormatter.storage(failed))],
      on: unwritten)
    infer(
      .answerArrived, lost.isUnwrittenAlone ? .likely : .possible,
      [.place(lost.number), .place(unwritten.sequence)], on: lost.sent, unwritten)
    return true
  }

  /// Adds the possible reasons why a process ended during a request.
  ///
  /// A process that closed the journal did not die during the request. A `closed` note does not
  /// name its process.
  mutating func maybeEnded(_ lost: RequestTrace) {
    if lost.sawClosing { maybe(.closedUnstored) }
    if !lost.wasClosed { maybe(.killedBySystem, .crashed, .closedByUser) }
    nameEndings()
  }

  /// Adds requests in a row without an end whose process did not come back: an answer may end a
  /// process.
  mutating func nameEndings() {
    let ended = UInt64(token?.endedInRow ?? 0)
    guard ended > 1 else { return }
    infer(.answerEndsProcess, .possible, [.counted(ended, "request")])
    advise(.crashReports)
  }

  private mutating func ruleOutDeath(_ lost: RequestTrace) {
    guard let end = lost.end, lost.wasAlone else { return }
    ruleOut(
      .noOpeningBetween, [.place(lost.number), .place(end.sequence)],
      searched: min(lost.number, end.sequence)...end.sequence)
  }

  private mutating func proveNoEnd(_ lost: RequestTrace) {
    if let end = lost.end {
      prove(.endUnnoted, [.place(lost.number), .place(end.sequence)], on: lost.sent, end)
    } else {
      prove(.noEndOf, [.place(lost.number)], on: lost.sent)
    }
    leaveUntold(.networkDid)
  }

  private mutating func proveDeath(_ lost: RequestTrace) {
    showsOpenings = true
    leaveUntold(.processDeath)
    guard let sent = lost.sent.requestSent, let end = lost.end else { return }
    // These are civil times, which can be set, so the finding is at most likely.
    let left = sent.deadline.milliseconds(since: end.time)
    infer(
      .goneBeforeDeadline, .likely, [.place(lost.number), .time(end.time), .span(left)],
      on: lost.sent, end)
    prove(.noReplyTo, [.place(lost.number)], on: lost.sent, end)
    maybeEnded(lost)
  }

  private mutating func proveRestart(_ lost: RequestTrace, _ by: RequestTrace.Taker) {
    showsOpenings = true
    prove(
      .systemRestarted, [.place(by.sequence), .place(lost.number)], on: lost.sent, lost.end)
    prove(.noReplyTo, [.place(lost.number)], on: lost.sent, lost.end)
    leaveUntold(.processDeath)
  }

  private mutating func proveReplacement(_ lost: RequestTrace, _ by: RequestTrace.Taker) {
    showsOpenings = true
    leaveUntold(.processDeath)
    proveTaking(of: lost, by)
    maybeEnded(lost)
    if !lost.wasClosed { maybe(.suspended) }
  }

  private mutating func proveOvertaking(_ lost: RequestTrace, _ by: RequestTrace.Taker) {
    showsOpenings = true
    proveTaking(of: lost, by)
    proveReturn(lost)
    if mayBeOtherwise(lost, .suspendedInRefresh) {
      if lost.late == nil { maybeEnded(lost) }
      maybe(.suspended)
    } else if lost.late == nil {
      infer(.suspended, .likely, on: lost.sent)
    }
    leaveUntold(.processDeath)
  }

  /// Proves which process presumed the request lost, and whether that was after its deadline.
  mutating func proveTaking(of lost: RequestTrace, _ by: RequestTrace.Taker) {
    guard let sent = lost.sent.requestSent, let taker = by.opener else { return }
    let sender = Opener(sent)
    let isLate: Bool
    if case .lost(.overtaken) = fate(of: lost) { isLate = true } else { isLate = false }
    let word: FindingWord =
      by.isOpening ? .replacedAtOpening : isLate ? .overtakenAfterDeadline : .overtakenBefore
    prove(
      word,
      [
        sender.value(beside: taker), .place(lost.number), taker.value(beside: sender),
        .place(by.sequence),
      ],
      on: lost.sent, by.fact)
  }

  /// Proves that its process came back.
  mutating func proveReturn(_ lost: RequestTrace) {
    guard let late = lost.late, let sent = lost.sent.requestSent else { return }
    prove(
      .cameBack, [.process(sent.process), .place(lost.number), .place(late.sequence)], on: late)
  }
}

extension Opener {
  /// The process number; with the opening if the other process has the same number.
  fileprivate func value(beside other: Opener) -> Value {
    guard process == other.process, let opening = identity?.opening else {
      return .process(process)
    }
    return .opening(process, opening)
  }
}
