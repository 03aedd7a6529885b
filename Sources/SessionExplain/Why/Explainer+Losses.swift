@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// The token was refused, and before that no answer came to one request with it, or to more.
  ///
  /// Which of more than one it was cannot be told; nor where another was answered in a way that leaves
  /// open what the server did, nor whether a switch changed the token.
  mutating func explainLosses(
    _ losses: [RequestTrace], _ refusal: Fact, _ word: RefusalWord, _ token: TokenHistory
  ) {
    ruleOutTheUsual()
    for lost in losses { proveLoss(lost) }
    guard let lost = losses.last else { return }
    let dubious = token.lastDubious(before: refusal.sequence)
    let isWhole = token.isWhole && token.omitted == 0
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
    if cause == .killedInRefresh || cause == .suspendedInRefresh { advise(.finishInBackground) }
    if cause == .answerNotStored { advise(.makeStorable) }
    advise(.serverGrace)
    adviseServerLog(near: lost.sent)
  }

  /// How it became known that no answer came, as far as the civil clock tells: where it was set between,
  /// it does not say whether that was before the deadline.
  func fate(of lost: RequestTrace) -> RequestTrace.Fate {
    guard case .lost(let how) = lost.fate, let end = lost.end,
      evidence.clock.jumps.contains(where: { $0.to > lost.number && $0.from < end.sequence })
    else { return lost.fate }
    switch how {
    case .gone(let by): return .lost(by.isOpening ? .replaced(by: by) : .taken(by: by))
    case .overtaken(let by): return .lost(.taken(by: by))
    case .connection, .restarted, .replaced, .taken, .unnoted, .reopened: return lost.fate
    }
  }

  /// Whether its answer was not stored: a note says so, or its process closed the journal, which earlier
  /// versions did in the middle of a request only then.
  private func isUnstored(_ lost: RequestTrace) -> Bool {
    lost.dropped != nil || lost.wasClosed && lost.late == nil
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

  /// Whether the process may have fared otherwise than the cause says.
  private func mayBeOtherwise(_ lost: RequestTrace, _ cause: Cause) -> Bool {
    guard cause != .lostReply else { return false }
    if cause == .answerNotStored { return lost.dropped == nil }
    switch fate(of: lost) {
    // One that was replaced behind its deadline may have been suspended as well.
    case .lost(.replaced), .lost(.taken): return true
    case .lost(.gone): return lost.wasReopened
    case .lost(.overtaken): return lost.late == nil && (lost.wasReopened || lost.sawClosing)
    case .lost(.restarted), .lost(.connection), .lost(.unnoted), .lost(.reopened), .open, .answered,
      .failed:
      return false
    }
  }

  /// The server may have rotated the token and answered with something that cannot be used.
  mutating func inferUnusable(_ dubious: RequestTrace, _ token: TokenHistory) {
    guard case .failed(let answer) = dubious.outcome else { return }
    infer(
      .rotatedAnswerUnusable, .possible,
      [.token(token.generation), .place(dubious.number), Self.words(answer)],
      on: dubious.sent, dubious.end)
  }

  private mutating func ruleOutEarlierRefusal(_ lost: RequestTrace, _ token: TokenHistory) {
    guard token.isWhole, let announced = token.announced,
      token.refusedFrom.map({ $0 > lost.number }) != false
    else { return }
    ruleOut(
      .noRefusalBefore, [.token(token.generation), .place(lost.number)],
      searched: min(announced.sequence, lost.number)...lost.number)
  }

  // MARK: How it became known

  private mutating func proveLoss(_ lost: RequestTrace) {
    if proveDropping(of: lost) { return }
    switch fate(of: lost) {
    case .lost(.connection):
      prove(.noReplyTo, [.place(lost.number)], on: lost.sent, lost.end)
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

  /// Whether its answer came and could not be stored.
  mutating func proveDropping(of lost: RequestTrace) -> Bool {
    guard let dropped = lost.dropped, let note = dropped.answerDropped else { return false }
    prove(
      .answerDropped, [.place(lost.number), .word(NoteFormatter.obstacle(note.cause))],
      on: lost.sent, dropped)
    return true
  }

  /// Why a process may have ended that left a request without its end.
  ///
  /// One that closed the journal did not die in the request. A closing does not say whose it is.
  mutating func maybeEnded(_ lost: RequestTrace) {
    if lost.sawClosing { maybe(.closedUnstored) }
    if !lost.wasClosed { maybe(.killedBySystem, .crashed, .closedByUser) }
    nameEndings()
  }

  /// Requests in a row that left no end, and whose process did not come back: an answer may end a process.
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
    // By civil times, which may be set: no more than likely.
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

  /// Who took the request for lost, and whether that was behind its deadline.
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

  /// Its process came back.
  mutating func proveReturn(_ lost: RequestTrace) {
    guard let late = lost.late, let sent = lost.sent.requestSent else { return }
    prove(
      .cameBack, [.process(sent.process), .place(lost.number), .place(late.sequence)], on: late)
  }
}

extension Opener {
  /// Its number, with its opening where the other has the same number.
  fileprivate func value(beside other: Opener) -> Value {
    guard process == other.process, let opening = identity?.opening else {
      return .process(process)
    }
    return .opening(process, opening)
  }
}
