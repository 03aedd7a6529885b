@_spi(Internals) internal import SessionCore

/// Inputs of a coordinator that a recorded batch proves, in order (`Specs/WhatIf.md`).
///
/// A batch may prove several scripts. The first one that results in the batch explains it.
struct InputScript: Sendable {
  /// What a batch proves, as the page's table names it.
  enum Proof: String, CaseIterable, Sendable {
    case opening = "opening"
    case call = "call"
    case timer = "timer"
    case consequence = "consequence"
    case lease = "lease"
    case response = "response"
    case failure = "failure"
    case lateResponse = "lateResponse"
    case login = "login"
    case logout = "logout"
    case profile = "profile"
    case use = "use"
    case items = "items"
    case storedToken = "storedToken"
    case revocation = "revocation"
    case cleared = "cleared"
    case store = "store"
    case close = "close"
  }

  /// One step of a script.
  enum Step: Sendable {
    /// Something happened.
    case tell(SessionInput)
    /// Something happened before the batch, at this civil time.
    case earlier(SessionInput, Timestamp)
    /// The response to the request of this sequence arrived at a civil time.
    case answer(UInt64, ResponseMetadata, Timestamp)
    /// The response to the login arrived at a civil time.
    case answerLogin(ResponseMetadata, Timestamp)
    /// The request of this sequence failed.
    case fail(UInt64, RequestFailure)
    /// A batch of notes about the secret store could not be written, so they go with the next one.
    case holdBackNotes
    /// The batch could not be written, as often as it was tried until this kind of batch.
    case breakUntilClosing(StorageCause)
    /// The batch could not be written at once, and is decided again.
    case decideAgain
    /// A newer token was stored than the journal knew.
    case supersede(SessionEvent)
    /// The journal was read every 100 ms until the time of the batch.
    case poll(isHolderGone: Bool)
  }

  let proof: Proof
  var steps: [Step]
  /// The timer that starts the script; `nil` for none.
  var timer: SessionTimer?
  /// Whether the script proves that the app used the session.
  var isUse = false
  /// How many milliseconds before the batch the script begins.
  var lead: Int64 = 0
  /// The random numbers that lead to the recorded delay of the next attempt; the first one is used.
  var jitters = UInt16.min...UInt16.max

  init(
    _ proof: Proof, _ steps: [Step], timer: SessionTimer? = nil, isUse: Bool = false,
    lead: Int64 = 0
  ) {
    (self.proof, self.steps, self.timer) = (proof, steps, timer)
    (self.isUse, self.lead) = (isUse, lead)
  }
}

extension InputScript {
  /// Returns what a batch proves, the most probable script first.
  ///
  /// - Parameters:
  ///   - batch: a batch that notes no opening.
  ///   - fold: the fold of all records before it.
  ///   - facts: the stored items, as far as the journal says. They say too whether the process of
  ///     an open request may be gone.
  ///   - isSwitching: whether a refresh in the batch is for a switch of the context.
  static func scripts(
    for batch: RecordedBatch, after fold: SessionFold, facts: StoredItemsReport, isSwitching: Bool
  ) -> [InputScript] {
    let mayBeGone = facts.isHolderGone
    var facts = facts
    facts.isHolderGone = false
    var found = core(of: batch, after: fold, facts: facts, mayBeGone)
    if isSwitching {
      found.insert(InputScript(.call, [.tell(.switchContext(caller))], isUse: true), at: 0)
    }
    let reports = batch.storageReports
    guard !reports.isEmpty else { return found }
    guard !found.isEmpty else { return [InputScript(.store, [.tell(.stored(reports))])] }
    return found.map { script in
      var script = script
      script.steps.insert(contentsOf: [.tell(.stored(reports)), .holdBackNotes], at: 0)
      return script
    }
  }

  private static func core(
    of batch: RecordedBatch, after fold: SessionFold, facts: StoredItemsReport, _ mayBeGone: Bool
  ) -> [InputScript] {
    if let sent = batch.sent { return sending(sent, batch, after: fold, mayBeGone) }
    guard let first = batch.essentials.first else { return [] }
    switch first {
    case .event(.refreshFailed(let failed)):
      return [InputScript(.failure, [.fail(failed.request, failed.failure)])]
    case .event(.refreshSucceeded(let refresh)):
      var metadata = ResponseMetadata(refresh, in: batch, before: fold.state)
      if refresh.trigger == .reauthentication {
        metadata.user = fold.state.user
        // Its method is in no record. A silent one is never over the limit of attempts.
        return login(
          .reauthenticate(caller, .silent), metadata, refresh.token.issuedAt, batch)
      }
      return answers(refresh.request, metadata, refresh.token.issuedAt, batch)
    case .event(.contextSwitched(let change)):
      guard let token = change.token else { return [] }
      let metadata = ResponseMetadata(
        token, hasRefreshToken: token.isRefreshable, context: change.context, in: batch)
      return answers(change.request, metadata, token.issuedAt, batch)
    case .event(.login(let login)): return logins(login, batch)
    case .event(.sessionExpired(let expired)):
      return expiries(expired.reason, batch, after: fold, facts: facts)
    case .event(.logout(let logout)): return logouts(logout.reason, after: fold)
    case .note(let note): return notes(note, batch, after: fold, facts: facts)
    case .snapshot, .unknown: return []
    }
  }

  private static func notes(
    _ note: SessionNote, _ batch: RecordedBatch, after fold: SessionFold, facts: StoredItemsReport
  ) -> [InputScript] {
    switch note {
    case .requestEnded(let ended):
      return [InputScript(.failure, [.fail(ended.request, ended.failure)])]
    case .answerUnused(let request):
      let any = ResponseMetadata(lifetime: 0, hasRefreshToken: false)
      return [InputScript(.lateResponse, [.answer(request, any, batch.time)])]
    case .answerDropped(let dropped):
      let any = ResponseMetadata(lifetime: 3_600_000, hasRefreshToken: true)
      return [
        InputScript(
          .close,
          [
            .answer(dropped.request, any, batch.time), .decideAgain,
            .breakUntilClosing(dropped.cause), .tell(.close(caller)),
            .breakUntilClosing(dropped.cause),
          ])
      ]
    case .closed: return [InputScript(.close, [.tell(.close(caller))])]
    case .revocationSettled(let settled):
      return [
        InputScript(
          .revocation,
          [.tell(.revoked(settled.generation, settled.outcome, status: settled.status))])
      ]
    case .userNeeded(let need):
      return [InputScript(.call, [.tell(.userNeeded(need))], isUse: true)]
    case .locked(.unused):
      return [InputScript(.use, [.tell(.fired(.inactivity))], timer: .inactivity)]
    case .locked: return [InputScript(.call, [.tell(.lock(caller))])]
    // The number of the check is in no record: it began after the last lock.
    case .unlocked: return [InputScript(.call, [.tell(.checkPassed(caller, .max))], isUse: true)]
    case .localDataCleared: return [InputScript(.cleared, [.tell(.cleared)])]
    case .tokenRecovered: return recoveries(batch, facts: facts)
    case .itemUnreadable, .secretsWiped, .continued:
      return items(facts.found(by: batch, after: fold), at: batch.time)
    default: return []
    }
  }

  // MARK: Requests

  private static func sending(
    _ sent: SessionNote.RequestSent, _ batch: RecordedBatch, after fold: SessionFold,
    _ mayBeGone: Bool
  ) -> [InputScript] {
    var starts: [InputScript] = []
    func call(_ input: SessionInput) {
      starts.append(InputScript(.call, [.tell(input)], isUse: true))
    }
    func refresh(_ need: RefreshNeed) { call(.refresh(caller, sent.trigger, need)) }
    switch (sent.kind, sent.trigger) {
    case (.switchContext, _): call(.switchContext(caller))
    case (_, .schedule), (_, .retry):
      starts.append(InputScript(.timer, [.tell(.fired(.refresh))], timer: .refresh))
      starts.append(InputScript(.timer, [.tell(.refresh(caller, sent.trigger, .always))]))
    case (_, .launch):
      starts.append(InputScript(.timer, [.tell(.refresh(caller, .launch, .always))]))
    case (_, .foreground): call(.foreground(caller))
    case (_, .unauthorized):
      refresh(.unlessNewer(than: sent.generation))
      refresh(.always)
    case (_, .command):
      refresh(.ifExpired)
      call(.switchContext(caller))
      refresh(.always)
    default: refresh(.always)
    }
    guard let open = fold.intents.request, batch.contents.loses(open.sequence) else {
      return starts
    }
    // The request of another process was waited for. How long it was watched is not recorded.
    let waits = starts.flatMap { start in
      [Int64(0), 2_000].map { lead in
        var script = start
        script.steps.append(.poll(isHolderGone: false))
        script.lead = lead
        return InputScript(.lease, script.steps, isUse: script.isUse, lead: lead)
      }
    }
    let gone =
      starts.map { start in
        InputScript(.lease, start.steps + [.poll(isHolderGone: true)], isUse: start.isUse)
      } + [InputScript(.lease, [.poll(isHolderGone: true)])]
    let resumed = [Int64(0), 2_000].map {
      InputScript(.lease, [.poll(isHolderGone: false)], lead: $0)
    }
    return starts + resumed + waits + (mayBeGone ? gone : [])
  }

  private static func answers(
    _ request: UInt64, _ metadata: ResponseMetadata, _ arrival: Timestamp, _ batch: RecordedBatch
  ) -> [InputScript] {
    var steps: [Step] = [.answer(request, metadata, arrival)]
    // A token that arrived before its batch could not be stored at once.
    if arrival != batch.time { steps.append(.decideAgain) }
    return [InputScript(.response, steps)]
  }

  private static func recoveries(_ batch: RecordedBatch, facts: StoredItemsReport)
    -> [InputScript]
  {
    guard let event = batch.records.compactMap(\.event).first else { return [] }
    var found = facts
    if let token = event.announcedToken {
      (found.token, found.generation, found.announcement) = (.present, token.generation, event)
    }
    let rejected = RequestFailure(kind: .rejected)
    let byRefresh: [Step] = [
      .tell(.refresh(caller, .manual, .always)), .poll(isHolderGone: false), .supersede(event),
    ]
    var scripts = [InputScript(.storedToken, [.supersede(event)])]
    if let request = batch.answered {
      scripts.append(InputScript(.storedToken, [.fail(request, rejected), .supersede(event)]))
    }
    return scripts + items(found, at: batch.time) + [
      InputScript(.storedToken, byRefresh),
      InputScript(.storedToken, byRefresh, lead: 2_000),
      InputScript(
        .storedToken,
        [
          .tell(.refresh(caller, .manual, .always)), .poll(isHolderGone: true), .supersede(event),
        ]),
    ]
  }

  // MARK: Ends

  private static func logins(_ login: SessionEvent.Login, _ batch: RecordedBatch) -> [InputScript] {
    var metadata = ResponseMetadata(
      login.token, hasRefreshToken: login.token.isRefreshable, context: login.context, in: batch)
    metadata.user = login.user
    switch (batch.contents.expiry, batch.contents.logout) {
    case (.userInactive?, _): metadata.profileFailure = RequestFailure(kind: .userInactive)
    case (_, .userDeleted?): metadata.profileFailure = RequestFailure(kind: .userDeleted)
    default: break
    }
    return self.login(.login(caller, login.method), metadata, login.token.issuedAt, batch)
  }

  private static func login(
    _ input: SessionInput, _ metadata: ResponseMetadata, _ arrival: Timestamp,
    _ batch: RecordedBatch
  ) -> [InputScript] {
    var steps: [Step] = [.earlier(input, arrival), .answerLogin(metadata, arrival)]
    if arrival != batch.time { steps.append(.decideAgain) }
    return [InputScript(.login, steps, isUse: true)]
  }

  private static func expiries(
    _ reason: ExpiryReason, _ batch: RecordedBatch, after fold: SessionFold,
    facts: StoredItemsReport
  ) -> [InputScript] {
    for case .event(.login(let login)) in batch.contents { return logins(login, batch) }
    let token = fold.state.token?.generation ?? .none
    switch reason {
    case .inactivity:
      return [InputScript(.use, [.tell(.fired(.inactivity))], timer: .inactivity)]
    case .lifetimeEnded:
      return [InputScript(.timer, [.tell(.fired(.lifetime))], timer: .lifetime)]
    case .tokenExpired:
      return [
        InputScript(.timer, [.tell(.fired(.expiry))], timer: .expiry),
        InputScript(.call, [.tell(.refresh(caller, .command, .ifExpired))]),
      ]
    case .endedByServer:
      let need = RefreshNeed.unlessNewer(than: token)
      return [
        InputScript(.call, [.tell(.refresh(caller, .unauthorized, need))], isUse: true)
      ]
    case .userInactive: return profile(.userInactive, fold)
    case .secretsMissing, .secretsOutdated, .corruptStorage, .proofKeyLost:
      return items(facts.found(by: batch, after: fold), at: batch.time)
    default: return []
    }
  }

  private static func logouts(_ reason: LogoutReason, after fold: SessionFold) -> [InputScript] {
    switch reason {
    case .user:
      return [
        InputScript(.logout, [.tell(.logout(caller, .deviceAndServer))], isUse: true),
        InputScript(.logout, [.tell(.logout(caller, .thisDeviceOnly))], isUse: true),
      ]
    case .userDeleted: return profile(.userDeleted, fold)
    default: return []
    }
  }

  private static func profile(_ kind: RequestFailure.Kind, _ fold: SessionFold) -> [InputScript] {
    guard let user = fold.state.user else { return [] }
    return [
      InputScript(.profile, [.tell(.profileRead(user, RequestFailure(kind: kind)))])
    ]
  }

  /// The stored items were read; an absent item is believed only after the third search.
  private static func items(_ facts: StoredItemsReport, at time: Timestamp) -> [InputScript] {
    let read = SessionInput.secretsRead(facts)
    let before = [Int64(4_000), 3_000].map { Step.earlier(read, time.advanced(by: -$0)) }
    return [
      InputScript(.items, [.tell(read)]), InputScript(.items, before + [.tell(read)]),
    ]
  }

  /// The one caller of every script: it has received its reply before the next script begins.
  private static var caller: Caller { Caller(1) }
}

extension ResponseMetadata {
  fileprivate init(
    _ token: TokenMetadata, hasRefreshToken: Bool, context: ActiveContext?, in batch: RecordedBatch
  ) {
    self.init(
      lifetime: token.lifetimeMilliseconds, tokenID: token.id, hasRefreshToken: hasRefreshToken,
      context: context)
    for case .note(.clockSkew(let skew)) in batch.contents {
      serverTime = token.issuedAt.advanced(by: skew == .min ? .max : -skew)
    }
    for case .note(.deviceClockUsed) in batch.contents { isMeasuredByDevice = true }
    for case .note(.refreshTokenLife(let life)) in batch.contents {
      refreshTokenLife = life.milliseconds
    }
    for case .note(.tokensBound(let bound)) in batch.contents { boundKey = bound.thumbprint }
  }

  fileprivate init(
    _ refresh: SessionEvent.RefreshSucceeded, in batch: RecordedBatch, before state: SessionState
  ) {
    var context: ActiveContext?
    for case .event(.contextSwitched(let change)) in batch.contents { context = change.context }
    self.init(refresh.token, hasRefreshToken: refresh.isRotated, context: context, in: batch)
    isRenewedByProvider =
      refresh.token.isRefreshable && !refresh.isRotated && state.token?.isRefreshable != true
  }
}

extension [SessionRecord.Content] {
  /// Whether these records say that the response to this request is lost.
  func loses(_ request: UInt64) -> Bool {
    contains { content in
      switch content {
      case .event(.refreshFailed(let failed)):
        failed.request == request && failed.failure.kind == .noReply
      case .note(.requestEnded(let ended)):
        ended.request == request && ended.failure.kind == .noReply
      default: false
      }
    }
  }
}
