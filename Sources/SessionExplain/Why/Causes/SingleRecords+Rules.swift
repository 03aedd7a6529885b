@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// Explains one record that ended nothing.
  mutating func explainRecord(_ fact: Fact) {
    showsAftermath = true
    explanation.before = explanation.after
    switch fact.record.content {
    case .event(let event):
      switch event {
      case .refreshFailed(let failed): explainFailure(failed, fact)
      case .login, .refreshSucceeded, .contextSwitched, .sessionExpired, .logout: explainOther()
      }
    case .note(let note): explain(note, fact)
    case .snapshot, .unknown: explainOther()
    }
  }

  private mutating func explain(_ note: SessionNote, _ fact: Fact) {
    switch note {
    case .requestEnded(let ended): explainEnded(ended, fact)
    case .tokenRecovered(let generation):
      conclude(.tokenRecovered, .proven, [.token(generation)])
      prove(.eventRestored, [.token(generation)], on: fact)
      maybe(.killedBySystem, .crashed, .closedByUser, .journalRestored)
    case .revocationPending(let generation): explainRevocation(generation, nil, fact)
    case .revocationSettled(let settled): explainRevocation(settled.generation, settled, fact)
    case .secretsWiped(let cause): explainWipe(cause, fact)
    case .itemUnreadable(let item):
      conclude(.itemUnreadable, .proven, [.word(item.description)])
      prove(.itemNotRead, [.word(item.description)], on: fact)
      proveNothingEnded(fact)
      infer(.itemGarbled, .likely)
      advise(.sendItemFacts)
    case .tailCut(let cut):
      conclude(.tailCut, .proven)
      prove(cut.isUndetermined ? .tailDoubtful : .tailTorn, [.counted(cut.bytes, "byte")], on: fact)
      if cut.isUndetermined { maybe(.repaired) }
      maybe(.killedBySystem, .crashed)
      advise(cut.isUndetermined ? .keptOrDropped : .keepAside)
    case .continued(let link):
      conclude(.journalContinued, .proven)
      prove(
        .continuesJournal, [.word(NoteFormatter.text(.continued(link), at: fact.time))], on: fact)
      advise(.setAsideCopy)
    case .answerUnused(let request):
      explainTakeover(of: request, fact)
      prove(.answerUnused, [.place(request)], on: fact)
    case .answerDropped(let dropped):
      conclude(.refreshFailed, .proven)
      prove(
        .answerDropped,
        [.place(dropped.request), .word(NoteFormatter.obstacle(dropped.cause))], on: fact)
      proveNothingEnded(fact)
      adviseStore()
      advise(.makeStorable)
    case .storageFailed(let failed): explainStorage(failed, fact)
    // The same notes as in `Fact.isExplainable`.
    default: explainOther()
    }
  }

  private mutating func explainStorage(_ failed: SessionNote.StorageFailed, _ fact: Fact) {
    conclude(.storageFailed, .proven)
    prove(.storeFailed, [.place(fact.sequence), .word(NoteFormatter.storage(failed))], on: fact)
    for later in evidence.aftermath {
      guard case .storageRecovered(let recovered)? = later.note, recovered.item == failed.item,
        recovered.operation == failed.operation
      else { continue }
      prove(.storeRecovered, [.place(later.sequence)], on: later)
      break
    }
    proveNothingEnded(fact)
    adviseStore()
  }

  /// Gives no explanation, since other records have none.
  private mutating func explainOther() {
    conclude(.unexplained, .possible, [.word(evidence.place?.record.name ?? "")])
  }

  private mutating func explainWipe(_ cause: SessionNote.WipeCause, _ fact: Fact) {
    guard cause == .otherJournal else {
      conclude(.leftoversWiped, .proven)
      prove(.leftoversGone, on: fact)
      return
    }
    conclude(.journalReplaced, .proven)
    prove(.otherJournalsSecrets, on: fact)
    maybe(.reinstalled, .journalDeleted)
    advise(.keepJournal)
  }

  // MARK: Requests

  private mutating func explainEnded(_ ended: SessionNote.RequestEnded, _ fact: Fact) {
    let request = token?.requests.first { $0.number == ended.request }
    let kind = request?.sent.requestSent?.kind
    guard kind == .switchContext, let request, request.late == nil else {
      explainTakeover(of: ended.request, fact)
      return
    }
    proveStanding()
    if RequestTrace.isLoss(ended.failure) {
      conclude(.switchLost, .proven)
      proveNoReply(to: request)
      let hasArrived = !RequestTrace.isNoAnswer(ended.failure)
      infer(
        .serverSwitched, hasArrived ? .likely : .possible, [.place(ended.request)],
        on: request.sent)
      if !hasArrived {
        infer(.neverArrived, .possible, [.place(ended.request)], on: request.sent)
      }
      advise(.trySwitchAgain)
    } else {
      let isRefusal = ended.failure.kind == .rejected
      conclude(
        isRefusal ? .switchRejected : .switchRefused, .proven, [Self.words(ended.failure)])
      prove(
        isRefusal ? .switchRefusedBy : .switchFailedBy, [Self.words(ended.failure)], on: fact)
      advise(isRefusal ? .checkPermission : .trySwitchAgain)
    }
  }

  private mutating func proveStanding() {
    guard let token, trail.fold.kind == .authenticated else { return }
    prove(.sessionAsItWas, [.token(token.generation)], on: token.announced)
  }

  private mutating func explainFailure(_ failed: SessionEvent.RefreshFailed, _ fact: Fact) {
    if let request = token?.requests.first(where: { $0.number == failed.request }),
      isTakenOver(request)
    {
      explainTakeover(of: failed.request, fact)
      return
    }
    conclude(.refreshFailed, .proven)
    prove(
      .refreshFailedSo, [.token(failed.generation), Self.words(failed.failure)], on: fact)
    if let retryAt = failed.retryAt { prove(.nextTry, [.time(retryAt)], on: fact) }
    proveNothingEnded(fact)
    proveSuccess(behind: fact)
  }

  /// Proves that the record ended nothing, and names a later end of the session.
  private mutating func proveNothingEnded(_ fact: Fact) {
    prove(.endedNothing, on: fact)
    if let end = evidence.endedBehind { prove(.endedBehind, [.place(end.sequence)], on: end) }
  }

  private func isTakenOver(_ request: RequestTrace) -> Bool {
    switch request.fate {
    case .lost(.overtaken), .lost(.gone), .lost(.replaced), .lost(.restarted), .lost(.taken): true
    case .lost(.connection), .lost(.unnoted), .lost(.reopened), .open, .answered, .failed: false
    }
  }

  private mutating func proveSuccess(behind fact: Fact) {
    for later in evidence.aftermath {
      // A success in another session is not a success of this one.
      guard !later.isEnd, !later.isLogin else { return }
      guard case .refreshSucceeded(let refresh)? = later.event,
        refresh.trigger != .reauthentication
      else { continue }
      prove(
        .refreshedLater, [.place(later.sequence), .token(refresh.token.generation)], on: later)
      return
    }
  }

  /// Explains a request that another process presumed lost, or whose own process ended it too late.
  private mutating func explainTakeover(of number: UInt64, _ fact: Fact) {
    showsOpenings = true
    let requests = (token?.requests ?? []) + trail.tokens.earlier.requests
    let request = requests.first { $0.number == number }
    conclude(.takenOver, request.map(isTakenOver) == true ? .proven : .possible)
    if let failure = fact.failure {
      prove(.requestFailedSo, [.place(number), Self.words(failure)], on: fact)
    }
    if let request {
      switch request.fate {
      case .lost(.overtaken(let by)), .lost(.gone(let by)), .lost(.replaced(let by)),
        .lost(.taken(let by)):
        proveTaking(of: request, by)
      case .lost(.restarted(let by)):
        prove(.systemRestarted, [.place(by.sequence), .place(request.number)], on: by.fact)
      case .lost(.connection), .lost(.unnoted), .lost(.reopened), .open, .answered, .failed:
        break
      }
      proveReturn(request)
    }
    proveSuccess(behind: fact)
    proveNothingEnded(fact)
  }

  // MARK: Revocations

  private mutating func explainRevocation(
    _ generation: Generation, _ settled: SessionNote.RevocationSettled?, _ fact: Fact
  ) {
    conclude(.notRevoked, .proven)
    let later = evidence.aftermath.compactMap { fact -> (Fact, SessionNote.RevocationSettled)? in
      guard case .revocationSettled(let later)? = fact.note, later.generation == generation
      else { return nil }
      return (fact, later)
    }
    let known = (settled.map { [(fact, $0)] } ?? []) + later
    guard let (place, last) = known.last else {
      prove(.revocationOpen, [.token(generation)], on: fact)
      advise(.toldAtOpen)
      return
    }
    switch last.outcome {
    case .revoked:
      conclude(.revocationDone, .proven, [.word("the server confirmed the revocation")])
      prove(
        .revocationDone, [.token(generation), .word(last.outcome.description)], on: place)
    case .alreadyInvalid:
      conclude(
        .revocationDone, .proven, [.word("the server no longer accepts the session's tokens")])
      prove(.revocationMoot, [.token(generation)], on: place)
    case .notOffered:
      prove(.revocationNotOffered, [.token(generation)], on: place)
      advise(.endAtServer)
    // With a status, the server refused it, and it is given up.
    case .failed,
      .abandoned where last.status > 0:
      prove(
        .revocationFailed,
        [
          .token(generation),
          .word(last.status == 0 ? "no response" : "status \(last.status)"),
        ], on: place)
      advise(last.outcome == .failed ? .toldAtOpen : .endAtServer)
    default:
      prove(.revocationLeft, [.token(generation)], on: place)
      advise(.endAtServer)
    }
  }
}
