@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Reads the facts of `Specs/EventCodec.md` from their readable form.
extension ImportObject {
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
        OpenIntents.Request(
          sequence: try request.number("sequence"),
          sent: try SessionNote.RequestSent.blank.rebuilt(by: &request))
      }
    }
    let revocations: [UInt64] = try numbers("revocations")
    return SessionFold(
      state: authenticated.map(SessionState.authenticated) ?? expired.map(SessionState.expired)
        ?? .unauthenticated,
      generation: newest, sequence: sequence, eventSequence: eventSequence,
      intents: OpenIntents(request: request, revocations: revocations.map(Generation.init)))
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

  private mutating func token(_ key: StaticString) throws(ImportProblem) -> TokenMetadata {
    try object(key) { (token) throws(ImportProblem) in
      TokenMetadata(
        generation: try token.generation("generation"), issuedAt: try token.time("issuedAt"),
        expiresAt: try token.time("expiresAt"), id: try token.optionalIdentifier("id"),
        isRefreshable: try token.flag("isRefreshable"))
    }
  }

  private mutating func optionalContext(_ key: StaticString) throws(ImportProblem) -> ActiveContext?
  {
    try optional(key) { (object, key) throws(ImportProblem) in try object.context(key) }
  }

  private mutating func context(_ key: StaticString) throws(ImportProblem) -> ActiveContext {
    try object(key) { (context) throws(ImportProblem) in
      let role = try context.named("role")
      let school = try context.optional("school") { (object, key) throws(ImportProblem) in
        try object.named(key)
      }
      let unit = try context.optional("unit") { (object, key) throws(ImportProblem) in
        try object.named(key)
      }
      let given = try context.texts("permissions")
      let read = ActiveContext(role: role, school: school, unit: unit, permissions: given)
      // Without this check, permissions that a journal cannot hold would be lost without a message.
      guard read.permissions == given else {
        throw context.problem("permissions", "are not in the order of an export, each once")
      }
      return read
    }
  }

  private mutating func named(_ key: StaticString) throws(ImportProblem) -> ActiveContext.Named {
    try object(key) { (named) throws(ImportProblem) in
      ActiveContext.Named(id: try named.identifier("id"), name: try named.text("name"))
    }
  }

}

/// Each field is read from the member with its name; the given values are ignored.
extension ImportObject: FieldPass {
  mutating func code<Code: OpenEnum>(
    _ name: FieldName, _: Code
  ) throws(ImportProblem) -> Code { try code(name.member) }

  mutating func reason<Code: OpenEnum>(
    _ name: FieldName, _: Code
  ) throws(ImportProblem) -> Code { try code(name.member) }

  mutating func meaning(
    _ name: FieldName, _: ErrorMeaning?
  ) throws(ImportProblem) -> ErrorMeaning? { try meaning(name.member) }

  mutating func number<Number: FixedWidthInteger>(
    _ name: FieldName, _: Number
  ) throws(ImportProblem) -> Number { try number(name.member) }

  mutating func sequence(_ name: FieldName, _: UInt64) throws(ImportProblem) -> UInt64 {
    try number(name.member)
  }

  mutating func flag(_ name: FieldName, _: Bool) throws(ImportProblem) -> Bool {
    try flag(name.member)
  }

  mutating func time(_ name: FieldName, _: Timestamp) throws(ImportProblem) -> Timestamp {
    try time(name.member)
  }

  mutating func time(_ name: FieldName, _: Timestamp?) throws(ImportProblem) -> Timestamp? {
    try optional(name.member) { (object, key) throws(ImportProblem) in try object.time(key) }
  }

  mutating func generation(_ name: FieldName, _: Generation) throws(ImportProblem) -> Generation {
    try generation(name.member)
  }

  mutating func identifier(
    _ name: FieldName, _: IdentifierKind, _: Identifier
  ) throws(ImportProblem) -> Identifier { try identifier(name.member) }

  mutating func identifier(
    _ name: FieldName, _: IdentifierKind, _: Identifier?
  ) throws(ImportProblem) -> Identifier? { try optionalIdentifier(name.member) }

  mutating func version(
    _ name: FieldName, _: AppVersion?
  ) throws(ImportProblem) -> AppVersion? {
    try version(name.member)
  }

  mutating func token(
    _ name: FieldName, _: TokenMetadata
  ) throws(ImportProblem) -> TokenMetadata { try token(name.member) }

  mutating func token(
    _ name: FieldName, _: TokenMetadata?
  ) throws(ImportProblem) -> TokenMetadata? {
    try optional(name.member) { (object, key) throws(ImportProblem) in try object.token(key) }
  }

  mutating func context(
    _ name: FieldName, _: ActiveContext
  ) throws(ImportProblem) -> ActiveContext { try context(name.member) }

  mutating func context(
    _ name: FieldName, _: ActiveContext?
  ) throws(ImportProblem) -> ActiveContext? { try optionalContext(name.member) }

  mutating func failure(
    _ name: FieldName, _: RequestFailure
  ) throws(ImportProblem) -> RequestFailure { try failure(name.member) }

  mutating func identity(
    _ name: FieldName, _: ProcessIdentity?
  ) throws(ImportProblem) -> ProcessIdentity? { try identity() }

  mutating func platform(
    _ name: FieldName, _: Platform?
  ) throws(ImportProblem) -> Platform? {
    guard has(name.member) else { return nil }
    // A journal cannot hold the one without the other, so the line would say more than its record.
    guard has("identity") else { throw problem(name.member, "needs \"identity\" beside it") }
    return try code(name.member)
  }

  mutating func demand(
    _ name: FieldName, _: AuthenticationDemand?
  ) throws(ImportProblem) -> AuthenticationDemand? {
    guard has(name.member) else { return nil }
    guard let demand = AuthenticationDemand(try text(name.member)) else {
      throw problem(name.member, "is no demand: words max_age=, acr= and scope= can be one")
    }
    return demand
  }

  mutating func policy(
    _ name: FieldName, _: RecordedPolicy?
  ) throws(ImportProblem) -> RecordedPolicy? {
    guard has(name.member) else { return nil }
    guard has("identity") else { throw problem(name.member, "needs \"identity\" beside it") }
    guard let policy = RecordedPolicy(try text(name.member)) else {
      throw problem(name.member, "is no policy: 1 to 400 of A–Z a–z 0–9 = , + - can be one")
    }
    return policy
  }
}

// Codes of values that a later version can have more of.
extension ImportObject {
  mutating func code<Value: OpenEnum>(_ key: StaticString) throws(ImportProblem) -> Value {
    let word = try text(key)
    guard let code = Value(word: word) else {
      let near = Suggestion.nearest(to: word, in: Value.words)
      throw problem(key, "cannot be \"\(word.shortened)\"", next: near.map { "\"\($0)\"" })
    }
    return code
  }

  mutating func generation(_ key: StaticString) throws(ImportProblem) -> Generation {
    Generation(try number(key))
  }
}

// Values with rules of their own.
extension ImportObject {
  /// Reads the process that wrote a record; the line may lack it, because older versions export none.
  mutating func identity() throws(ImportProblem) -> ProcessIdentity? {
    guard has("identity") else { return nil }
    return try object("identity") { (identity) throws(ImportProblem) in
      ProcessIdentity(
        opening: try identity.identifier("opening"), boot: try identity.optionalIdentifier("boot"),
        namespace: try identity.optionalIdentifier("namespace"),
        start: try identity.number("start"), lock: try identity.optionalIdentifier("lock"))
    }
  }

  /// Reads the meaning of a server's code; a line without one has no such member.
  mutating func meaning(_ key: StaticString) throws(ImportProblem) -> ErrorMeaning? {
    has(key) ? try code(key) : nil
  }

  /// Reads the version of an app; the line may lack it, because older versions export none.
  mutating func version(_ key: StaticString) throws(ImportProblem) -> AppVersion? {
    guard has(key) else { return nil }
    return try optional(key) { (object, key) throws(ImportProblem) in
      guard let version = AppVersion(try object.text(key)) else {
        throw object.problem(key, "is no version: 1 to 64 of A–Z a–z 0–9 . _ + - can be one")
      }
      return version
    }
  }

  mutating func optionalIdentifier(_ key: StaticString) throws(ImportProblem) -> Identifier? {
    try optional(key) { (object, key) throws(ImportProblem) in try object.identifier(key) }
  }

  mutating func failure(_ key: StaticString) throws(ImportProblem) -> RequestFailure {
    try object(key) { (object) throws(ImportProblem) in
      let (kind, status): (RequestFailure.Kind, UInt16) = (
        try object.code("kind"), try object.number("status")
      )
      let code = try object.optional("serverCode") { (object, key) throws(ImportProblem) in
        try object.text(key)
      }
      let wait: Int64? = try object.optional("retryAfter") { (object, key) throws(ImportProblem) in
        try object.number(key)
      }
      let failure = RequestFailure(
        kind: kind, status: status, recordedCode: code, retryAfter: wait)
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
