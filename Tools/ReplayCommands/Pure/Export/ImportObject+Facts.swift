@_spi(Internals) internal import SessionCore
internal import SessionJSON

/// Reads the facts of `Specs/EventCodec.md` from their readable form.
extension ImportObject {
  mutating func event(_ kind: SessionEvent.Kind) throws(ImportProblem) -> SessionEvent {
    switch kind {
    case .login:
      .login(
        .init(
          user: try identifier("user"), method: try code("method"), token: try token("token"),
          context: try optionalContext("context")))
    case .refreshSucceeded:
      .refreshSucceeded(
        .init(
          token: try token("token"), trigger: try code("trigger"), attempt: try number("attempt"),
          isRotated: try flag("isRotated"), request: try number("request")))
    case .refreshFailed:
      .refreshFailed(
        .init(
          generation: try generation("generation"), trigger: try code("trigger"),
          attempt: try number("attempt"), failure: try failure("failure"),
          retryAt: try optional("retryAt") { (object, key) throws(ImportProblem) in
            try object.time(key)
          }, request: try number("request"), configuredMeaning: try meaning()))
    case .contextSwitched:
      .contextSwitched(
        .init(
          context: try context("context"),
          token: try optional("token") { (object, key) throws(ImportProblem) in
            try object.token(key)
          }, trigger: try code("trigger"), request: try number("request")))
    case .sessionExpired: .sessionExpired(.init(reason: try code("reason")))
    case .logout: .logout(.init(reason: try code("reason")))
    }
  }

  mutating func note(_ kind: SessionNote.Kind) throws(ImportProblem) -> SessionNote {
    switch kind {
    case .opened:
      .opened(
        .init(
          process: try number("process"), boot: try optionalIdentifier("boot"),
          uptime: try number("uptime"), app: try appVersion("app"), identity: try identity()))
    case .closed: .closed
    case .tailCut:
      .tailCut(.init(bytes: try number("bytes"), isUndetermined: try flag("isUndetermined")))
    case .requestSent: .requestSent(try request())
    case .requestEnded:
      .requestEnded(.init(request: try number("request"), failure: try failure("failure")))
    case .tokenRecovered: .tokenRecovered(try generation("generation"))
    case .revocationPending: .revocationPending(try generation("generation"))
    case .revocationSettled:
      .revocationSettled(
        .init(
          generation: try generation("generation"), outcome: try code("outcome"),
          status: try number("status")))
    case .secretsWiped: .secretsWiped(try code("cause"))
    case .itemUnreadable: .itemUnreadable(try code("item"))
    case .continued:
      .continued(
        .init(
          journal: try optionalIdentifier("journal"), sequence: try number("sequence"),
          cause: try code("cause")))
    case .clockSkew: .clockSkew(try number("milliseconds"))
    case .localDataCleared: .localDataCleared
    case .storageFailed:
      .storageFailed(
        .init(
          item: try code("item"), operation: try code("operation"), cause: try code("cause"),
          number: try number("number")))
    case .storageRecovered:
      .storageRecovered(.init(item: try code("item"), operation: try code("operation")))
    case .answerDropped:
      .answerDropped(.init(request: try number("request"), cause: try code("cause")))
    case .answerUnused: .answerUnused(try number("request"))
    }
  }

  /// Reads the meaning of an error; the line may lack it, because older versions export none.
  private mutating func meaning() throws(ImportProblem) -> ErrorMeaning? {
    has("meaning") ? try code("meaning") : nil
  }

  /// Reads the process that wrote a record; the line may lack it, because older versions export none.
  private mutating func identity() throws(ImportProblem) -> ProcessIdentity? {
    guard has("identity") else { return nil }
    return try object("identity") { (identity) throws(ImportProblem) in
      ProcessIdentity(
        opening: try identity.identifier("opening"), boot: try identity.optionalIdentifier("boot"),
        namespace: try identity.optionalIdentifier("namespace"),
        start: try identity.number("start"), lock: try identity.optionalIdentifier("lock"))
    }
  }

  mutating func fold() throws(ImportProblem) -> SessionFold {
    let (sequence, eventSequence): (UInt64, UInt64) = (
      try number("sequence"), try number("eventSequence")
    )
    let newest = try generation("generation")
    let authenticated = try optional("authenticated") { (object, key) throws(ImportProblem) in
      try object.object(key) { (session) throws(ImportProblem) in try session.authenticated() }
    }
    let expired = try optional("expired") { (object, key) throws(ImportProblem) in
      try object.object(key) { (session) throws(ImportProblem) in try session.expired() }
    }
    guard authenticated == nil || expired == nil else {
      throw problem("expired", "must be null beside \"authenticated\"")
    }
    let request = try optional("request") { (object, key) throws(ImportProblem) in
      try object.object(key) { (request) throws(ImportProblem) in
        OpenIntents.Request(sequence: try request.number("sequence"), sent: try request.request())
      }
    }
    let revocations = try array("revocations") { (value, place) throws(ImportProblem) in
      Generation(try Self.number(value, place))
    }
    return SessionFold(
      state: authenticated.map(SessionState.authenticated) ?? expired.map(SessionState.expired)
        ?? .unauthenticated,
      generation: newest, sequence: sequence, eventSequence: eventSequence,
      intents: OpenIntents(request: request, revocations: revocations))
  }

  private mutating func authenticated() throws(ImportProblem) -> SessionState.Authenticated {
    SessionState.Authenticated(
      user: try identifier("user"), method: try code("method"), since: try time("since"),
      token: try token("token"), context: try optionalContext("context"),
      failures: try object("failures") { (failures) throws(ImportProblem) in
        SessionState.RefreshFailures(
          total: try failures.number("total"), answered: try failures.number("answered"),
          last: try failures.optional("last") { (object, key) throws(ImportProblem) in
            try object.failure(key)
          })
      })
  }

  private mutating func expired() throws(ImportProblem) -> SessionState.Expired {
    SessionState.Expired(
      user: try identifier("user"), context: try optionalContext("context"),
      reason: try code("reason"), since: try time("since"))
  }

  private mutating func request() throws(ImportProblem) -> SessionNote.RequestSent {
    SessionNote.RequestSent(
      kind: try code("kind"), generation: try generation("generation"),
      trigger: try code("trigger"), attempt: try number("attempt"),
      process: try number("process"), deadline: try time("deadline"), identity: try identity())
  }

  private mutating func token(_ key: String) throws(ImportProblem) -> TokenMetadata {
    try object(key) { (token) throws(ImportProblem) in
      TokenMetadata(
        generation: try token.generation("generation"), issuedAt: try token.time("issuedAt"),
        expiresAt: try token.time("expiresAt"), id: try token.optionalIdentifier("id"),
        isRefreshable: try token.flag("isRefreshable"))
    }
  }

  private mutating func optionalIdentifier(_ key: String) throws(ImportProblem) -> Identifier? {
    try optional(key) { (object, key) throws(ImportProblem) in try object.identifier(key) }
  }

  /// Reads the app's version; the line may lack it, because older versions export none.
  private mutating func appVersion(_ key: String) throws(ImportProblem) -> AppVersion? {
    guard has(key) else { return nil }
    return try optional(key) { (object, key) throws(ImportProblem) in
      guard let version = AppVersion(try object.text(key)) else {
        throw object.problem(key, "is no version: 1 to 64 of A–Z a–z 0–9 . _ + - can be one")
      }
      return version
    }
  }

  private mutating func optionalContext(_ key: String) throws(ImportProblem) -> ActiveContext? {
    try optional(key) { (object, key) throws(ImportProblem) in try object.context(key) }
  }

  private mutating func context(_ key: String) throws(ImportProblem) -> ActiveContext {
    try object(key) { (context) throws(ImportProblem) in
      var given: [String] = []
      let read = ActiveContext(
        role: try context.named("role"),
        school: try context.optional("school") { (object, key) throws(ImportProblem) in
          try object.named(key)
        },
        unit: try context.optional("unit") { (object, key) throws(ImportProblem) in
          try object.named(key)
        },
        permissions: try context.array("permissions") { (value, place) throws(ImportProblem) in
          guard case .text(let text) = value else {
            throw ImportProblem(.badLine, "\"\(place)\" has \(value.word) in it, not only texts")
          }
          given.append(text)
          return text
        })
      // Without this check, permissions that a journal cannot hold would be lost without a message.
      guard read.permissions == given else {
        throw context.problem("permissions", "are not in the order of an export, each once")
      }
      return read
    }
  }

  private mutating func named(_ key: String) throws(ImportProblem) -> ActiveContext.Named {
    try object(key) { (named) throws(ImportProblem) in
      ActiveContext.Named(id: try named.identifier("id"), name: try named.text("name"))
    }
  }

  private mutating func failure(_ key: String) throws(ImportProblem) -> RequestFailure {
    try object(key) { (object) throws(ImportProblem) in
      let code = try object.optional("serverCode") { (object, key) throws(ImportProblem) in
        try object.text(key)
      }
      let wait: Int64? = try object.optional("retryAfter") { (object, key) throws(ImportProblem) in
        try object.number(key)
      }
      let failure = RequestFailure(
        kind: try object.code("kind"), status: try object.number("status"), recordedCode: code,
        retryAfter: wait)
      // Without this check, a code that a journal cannot hold would be lost without a message.
      guard failure.serverCode == code else {
        throw object.problem("serverCode", "is no code: 1 to 64 of A–Z a–z 0–9 _ - . can be one")
      }
      guard failure.retryAfterMilliseconds == wait else {
        throw object.problem("retryAfter", "is below 0")
      }
      return failure
    }
  }
}
