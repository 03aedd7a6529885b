@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

extension JSONWriter {
  /// Writes the readable form of `Specs/EventCodec.md`: name, time and facts.
  mutating func readable(_ record: SessionRecord) {
    field("name", record.name)
    field("time", record.time)
    object("facts") { json in
      switch record.content {
      case .event(let event): json.facts(event)
      case .note(let note): json.facts(note)
      case .snapshot(let fold): json.facts(fold)
      case .unknown(let unknown):
        json.field("payload", unknown.payload.hexadecimal)
        json.field("isIgnorable", unknown.isIgnorable)
      }
    }
  }

  private mutating func facts(_ event: SessionEvent) {
    switch event {
    case .login(let login):
      field("user", login.user)
      field("method", login.method.description)
      token("token", login.token)
      context("context", login.context)
    case .refreshSucceeded(let refresh):
      token("token", refresh.token)
      field("trigger", refresh.trigger.description)
      field("attempt", refresh.attempt)
      field("isRotated", refresh.isRotated)
      field("request", refresh.request)
    case .refreshFailed(let refresh):
      field("generation", refresh.generation.number)
      field("trigger", refresh.trigger.description)
      field("attempt", refresh.attempt)
      failure("failure", refresh.failure)
      field("retryAt", refresh.retryAt)
      field("request", refresh.request)
      if let meaning = refresh.configuredMeaning { field("meaning", meaning.description) }
    case .contextSwitched(let change):
      context("context", change.context)
      token("token", change.token)
      field("trigger", change.trigger.description)
      field("request", change.request)
    case .sessionExpired(let expiry):
      field("reason", expiry.reason.description)
    case .logout(let logout):
      field("reason", logout.reason.description)
    }
  }

  private mutating func facts(_ fold: SessionFold) {
    field("sequence", fold.sequence)
    field("eventSequence", fold.eventSequence)
    for field in StateDescription(fold).snapshotFields { self.field(field) }
  }

  private mutating func facts(_ note: SessionNote) {
    switch note {
    case .opened(let opened):
      field("process", opened.process)
      field("boot", opened.boot)
      field("uptime", opened.uptime)
      field("app", opened.app?.description)
      identity(opened.identity)
    case .closed:
      break
    case .tailCut(let cut):
      field("bytes", cut.bytes)
      field("isUndetermined", cut.isUndetermined)
    case .requestSent(let sent):
      request(sent)
    case .requestEnded(let ended):
      field("request", ended.request)
      failure("failure", ended.failure)
    case .tokenRecovered(let generation), .revocationPending(let generation):
      field("generation", generation.number)
    case .revocationSettled(let settled):
      field("generation", settled.generation.number)
      field("outcome", settled.outcome.description)
      field("status", settled.status)
    case .secretsWiped(let cause):
      field("cause", cause.description)
    case .itemUnreadable(let item):
      field("item", item.description)
    case .continued(let link):
      field("journal", link.journal)
      field("sequence", link.sequence)
      field("cause", link.cause.description)
    case .clockSkew(let milliseconds):
      field("milliseconds", milliseconds)
    case .localDataCleared:
      break
    case .storageFailed(let failed):
      field("item", failed.item.description)
      field("operation", failed.operation.description)
      field("cause", failed.cause.description)
      field("number", failed.number)
    case .storageRecovered(let recovered):
      field("item", recovered.item.description)
      field("operation", recovered.operation.description)
    case .answerDropped(let dropped):
      field("request", dropped.request)
      field("cause", dropped.cause.description)
    case .answerUnused(let request):
      field("request", request)
    }
  }

  private mutating func request(_ sent: SessionNote.RequestSent) {
    field("kind", sent.kind.description)
    field("generation", sent.generation.number)
    field("trigger", sent.trigger.description)
    field("attempt", sent.attempt)
    field("process", sent.process)
    field("deadline", sent.deadline)
    identity(sent.identity)
  }

  /// Writes the identity of the process that opened the journal; nothing if the record has none.
  private mutating func identity(_ identity: ProcessIdentity?) {
    guard let identity else { return }
    object("identity") { json in
      json.field("opening", identity.opening)
      json.field("boot", identity.boot)
      json.field("namespace", identity.namespace)
      json.field("start", identity.start)
      json.field("lock", identity.lock)
    }
  }

  private mutating func token(_ name: String, _ token: TokenMetadata?) {
    guard let token else { return null(name) }
    object(name) { json in
      json.field("generation", token.generation.number)
      json.field("issuedAt", token.issuedAt)
      json.field("expiresAt", token.expiresAt)
      json.field("id", token.id)
      json.field("isRefreshable", token.isRefreshable)
    }
  }

  private mutating func context(_ name: String, _ context: ActiveContext?) {
    guard let context else { return null(name) }
    object(name) { json in
      json.named("role", context.role)
      json.named("school", context.school)
      json.named("unit", context.unit)
      json.array("permissions", context.permissions) { $0.value($1) }
    }
  }

  private mutating func failure(_ name: String, _ failure: RequestFailure?) {
    guard let failure else { return null(name) }
    object(name) { json in
      json.field("kind", failure.kind.description)
      json.field("status", failure.status)
      json.field("serverCode", failure.serverCode)
      json.field("retryAfter", failure.retryAfterMilliseconds)
    }
  }

  private mutating func named(_ name: String, _ named: ActiveContext.Named?) {
    guard let named else { return null(name) }
    object(name) { json in
      json.field("id", named.id)
      json.field("name", named.name)
    }
  }
}
