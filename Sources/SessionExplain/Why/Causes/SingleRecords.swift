@_spi(Internals) import SessionCore

extension CauseFamily {
  /// One record that ended nothing.
  static let singleRecords = CauseFamily(
    causes: [
      .switchRefused, .switchLost, .notRevoked, .revocationDone, .takenOver, .refreshFailed,
      .tokenRecovered, .tailCut, .itemUnreadable, .storageFailed, .leftoversWiped,
      .journalContinued,
    ],
    findings: [
      .endedNothing, .endedBehind, .leftoversGone, .switchRefusedBy, .switchFailedBy,
      .sessionAsItWas, .revocationOpen, .revocationLeft, .revocationFailed, .revocationMoot,
      .revocationNotOffered, .refreshFailedSo, .requestFailedSo, .refreshedLater, .eventRestored,
      .tailTorn, .tailDoubtful, .continuesJournal, .neverArrived, .serverSwitched, .repaired,
    ],
    advice: [
      .checkPermission, .trySwitchAgain, .toldAtOpen, .endAtServer, .keepAside, .keptOrDropped,
    ])
}

extension Cause {
  package static let switchRefused = Cause(
    "switch-refused", .event,
    "The context switch failed: {}", reliesOn: .ownRecords)
  package static let switchLost = Cause(
    "switch-lost", .event,
    "The context switch got no answer")
  package static let notRevoked = Cause(
    "not-revoked", .event,
    "Logged out here; the server does not know", reliesOn: .ownRecords)
  package static let revocationDone = Cause(
    "revocation-done", .event,
    "Logged out here, and {}", reliesOn: .ownRecords)
  package static let takenOver = Cause(
    "taken-over", .event,
    "A request was taken for lost by another process; this record ended nothing")
  package static let refreshFailed = Cause(
    "refresh-failed", .event,
    "A refresh failed; this record ended nothing", reliesOn: .ownRecords)
  package static let tokenRecovered = Cause(
    "token-recovered", .event,
    "The event of {} was missing; it was restored from what "
      + "is stored", reliesOn: .ownRecords)
  package static let tailCut = Cause(
    "tail-cut", .event,
    "The end of the journal was cut off", reliesOn: .ownRecords)
  package static let itemUnreadable = Cause(
    "item-unreadable", .event,
    "The stored {} could not be read", reliesOn: .ownRecords)
  package static let storageFailed = Cause(
    "storage-failed", .event,
    "The secret store failed; this record ended nothing", reliesOn: .ownRecords)
  package static let leftoversWiped = Cause(
    "leftovers-wiped", .event,
    "Stored secrets that no session owns were wiped", reliesOn: .ownRecords)
  package static let journalContinued = Cause(
    "journal-continued", .event,
    "This journal goes on from another one", reliesOn: .ownRecords)
}

extension FindingWord {
  package static let endedNothing = FindingWord(
    "endedNothing",
    "this record ended nothing")
  package static let endedBehind = FindingWord(
    "endedBehind",
    "the session ended behind it, at {}")
  package static let leftoversGone = FindingWord(
    "leftoversGone",
    "stored secrets that no session owns were wiped")
  package static let switchRefusedBy = FindingWord(
    "switchRefusedBy",
    "the server refused the switch: {}")
  package static let switchFailedBy = FindingWord(
    "switchFailedBy",
    "the switch failed: {}")
  package static let sessionAsItWas = FindingWord(
    "sessionAsItWas",
    "the session went on with {} as before")
  package static let revocationOpen = FindingWord(
    "revocationOpen",
    "the server was not told of the end of {} yet")
  package static let revocationLeft = FindingWord(
    "revocationLeft",
    "the server was not told of the end of {}, and cannot be any more: what that needs is gone")
  package static let revocationFailed = FindingWord(
    "revocationFailed",
    "telling the server of the end of {} failed ({})")
  package static let revocationMoot = FindingWord(
    "revocationMoot",
    "the server refused the refresh token of {}: nothing was left to revoke")
  package static let revocationNotOffered = FindingWord(
    "revocationNotOffered",
    "the backend offers no way to be told of the end of {}")
  package static let refreshFailedSo = FindingWord(
    "refreshFailedSo",
    "the refresh of {} failed: {}")
  package static let requestFailedSo = FindingWord(
    "requestFailedSo",
    "the end of {}: {}")
  package static let refreshedLater = FindingWord(
    "refreshedLater",
    "it succeeded at {}, with {}")
  package static let eventRestored = FindingWord(
    "eventRestored",
    "{} was stored and its event was missing; the event was added")
  package static let tailTorn = FindingWord(
    "tailTorn",
    "{} at the end were no whole commit, and nobody had been told that they were written")
  package static let tailDoubtful = FindingWord(
    "tailDoubtful",
    "{} at the end were left out, and may have been acknowledged")
  package static let continuesJournal = FindingWord(
    "continuesJournal",
    "it {}")
  package static let neverArrived = FindingWord(
    "neverArrived",
    "{} never reached the server")
  package static let serverSwitched = FindingWord(
    "serverSwitched",
    "the server acted on {}, and its reply was lost")
  package static let repaired = FindingWord(
    "repaired",
    "sessionreplay repair made this file without it")
}

extension AdviceWord {
  package static let checkPermission = AdviceWord(
    "checkPermission",
    "check what the user may switch to")
  package static let trySwitchAgain = AdviceWord(
    "trySwitchAgain",
    "try the switch again")
  package static let toldAtOpen = AdviceWord(
    "toldAtOpen",
    "it is told again when the app is opened next")
  package static let endAtServer = AdviceWord(
    "endAtServer",
    "end the session at the server by hand if it must not live on")
  package static let keepAside = AdviceWord(
    "keepAside",
    "the bytes are kept beside the journal; look at why the process ended in the middle of "
      + "a commit")
  package static let keptOrDropped = AdviceWord(
    "keptOrDropped",
    "the bytes are kept beside the journal, or in the OUT.dropped of sessionreplay repair")
}

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
    advise(.checkStore)
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
    if RequestTrace.isNoAnswer(ended.failure) {
      conclude(.switchLost, .proven)
      prove(.noReplyTo, [.place(ended.request)], on: request.sent, fact)
      infer(.serverSwitched, .possible, [.place(ended.request)], on: request.sent)
      infer(.neverArrived, .possible, [.place(ended.request)], on: request.sent)
      advise(.trySwitchAgain)
    } else {
      let isRefusal = ended.failure.kind == .rejected
      conclude(.switchRefused, .proven, [Self.words(ended.failure)])
      prove(
        isRefusal ? .switchRefusedBy : .switchFailedBy, [Self.words(ended.failure)], on: fact)
      advise(isRefusal ? .checkPermission : .trySwitchAgain)
    }
  }

  private mutating func proveStanding() {
    guard let token, evidence.after.state.kind == .authenticated else { return }
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
      guard case .refreshSucceeded(let refresh)? = later.event else { continue }
      prove(
        .refreshedLater, [.place(later.sequence), .token(refresh.token.generation)], on: later)
      return
    }
  }

  /// Explains a request that another process presumed lost, or whose own process ended it too late.
  private mutating func explainTakeover(of number: UInt64, _ fact: Fact) {
    showsOpenings = true
    let requests = (token?.requests ?? []) + evidence.earlier.requests
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
      conclude(.revocationDone, .proven, [.word("the server was told")])
      prove(
        .revocationDone, [.token(generation), .word(last.outcome.description)], on: place)
    case .alreadyInvalid:
      conclude(
        .revocationDone, .proven, [.word("the server accepts the session's tokens no more")])
      prove(.revocationMoot, [.token(generation)], on: place)
    case .notOffered:
      prove(.revocationNotOffered, [.token(generation)], on: place)
      advise(.endAtServer)
    case .failed:
      prove(
        .revocationFailed,
        [
          .token(generation),
          .word(last.status == 0 ? "no answer" : "status \(last.status)"),
        ], on: place)
      advise(.toldAtOpen)
    default:
      prove(.revocationLeft, [.token(generation)], on: place)
      advise(.endAtServer)
    }
  }
}
