extension SessionEvent.RefreshFailed {
  /// The version of the fields that added the meaning of an error code.
  static let meaningVersion: UInt8 = 2
}

extension SessionEvent.Kind {
  /// The highest known version of the kind's fields.
  var version: UInt8 {
    self == .refreshFailed
      ? SessionEvent.RefreshFailed.meaningVersion : SessionCodec.firstVersion
  }
}

extension SessionEvent {
  /// The lowest version of the fields that can hold the event.
  package var version: UInt8 {
    guard case .refreshFailed(let refresh) = self, refresh.configuredMeaning != nil else {
      return SessionCodec.firstVersion
    }
    return RefreshFailed.meaningVersion
  }
}

extension PayloadWriter {
  mutating func write(_ event: SessionEvent) {
    switch event {
    case .login(let login):
      write(login.user)
      write(login.method)
      write(login.token)
      write(optional: login.context) { $0.write($1) }
    case .refreshSucceeded(let refresh):
      write(refresh.token)
      write(refresh.trigger)
      write(refresh.attempt)
      write(refresh.isRotated)
      write(refresh.request)
    case .refreshFailed(let refresh):
      write(refresh.generation)
      write(refresh.trigger)
      write(refresh.attempt)
      write(refresh.failure)
      write(optional: refresh.retryAt) { $0.write($1) }
      write(refresh.request)
      if let meaning = refresh.configuredMeaning { write(meaning) }
    case .contextSwitched(let change):
      write(change.context)
      write(optional: change.token) { $0.write($1) }
      write(change.trigger)
      write(change.request)
    case .sessionExpired(let expiry):
      write(expiry.reason)
    case .logout(let logout):
      write(logout.reason)
    }
  }

  mutating func write(_ token: TokenMetadata) {
    write(token.generation)
    write(token.issuedAt)
    write(token.expiresAt)
    write(token.id)
    write(token.isRefreshable)
  }

  mutating func write(_ context: ActiveContext) {
    write(context.role)
    write(optional: context.school) { $0.write($1) }
    write(optional: context.unit) { $0.write($1) }
    write(UInt32(clamping: context.permissions.count))
    for permission in context.permissions { write(permission) }
  }

  private mutating func write(_ named: ActiveContext.Named) {
    write(named.id)
    write(named.name)
  }

  package mutating func write(_ failure: RequestFailure) {
    write(failure.kind)
    write(failure.status)
    write(optional: failure.serverCode) { $0.write($1) }
    write(optional: failure.retryAfterMilliseconds) { $0.write($1) }
  }
}

extension PayloadReader {
  @inline(__always)
  mutating func event(
    _ kind: SessionEvent.Kind, _ version: UInt8, _ known: inout TextTable
  ) throws(CodecError) -> SessionEvent {
    switch kind {
    case .login:
      .login(
        SessionEvent.Login(
          user: try identifier(), method: try code(), token: try token(),
          context: try flag() ? try context(&known) : nil))
    case .refreshSucceeded:
      .refreshSucceeded(try refreshSucceeded())
    case .refreshFailed:
      .refreshFailed(try refreshFailed(version))
    case .contextSwitched:
      .contextSwitched(
        SessionEvent.ContextSwitched(
          context: try context(&known), token: try flag() ? try token() : nil,
          trigger: try code(), request: try integer()))
    case .sessionExpired:
      .sessionExpired(try sessionExpired())
    case .logout:
      .logout(try logout())
    }
  }

  @inline(__always)
  mutating func refreshSucceeded() throws(CodecError) -> SessionEvent.RefreshSucceeded {
    SessionEvent.RefreshSucceeded(
      token: try token(), trigger: try code(), attempt: try integer(), isRotated: try flag(),
      request: try integer())
  }

  mutating func refreshFailed(_ version: UInt8) throws(CodecError) -> SessionEvent.RefreshFailed {
    SessionEvent.RefreshFailed(
      generation: try generation(), trigger: try code(), attempt: try integer(),
      failure: try failure(), retryAt: try flag() ? try timestamp() : nil,
      request: try integer(),
      configuredMeaning: version < SessionEvent.RefreshFailed.meaningVersion ? nil : try code())
  }

  @inline(__always)
  mutating func sessionExpired() throws(CodecError) -> SessionEvent.SessionExpired {
    SessionEvent.SessionExpired(reason: try code())
  }

  @inline(__always)
  mutating func logout() throws(CodecError) -> SessionEvent.Logout {
    SessionEvent.Logout(reason: try code())
  }

  @inline(__always)
  mutating func token() throws(CodecError) -> TokenMetadata {
    if let token = uuidToken() { return token }
    return TokenMetadata(
      generation: try generation(), issuedAt: try timestamp(), expiresAt: try timestamp(),
      id: try optionalIdentifier(), isRefreshable: try flag())
  }

  /// Skips a token, and returns its number; throws the same errors as `token`.
  @inline(__always)
  mutating func skipToken() throws(CodecError) -> Generation {
    if let generation = skipUUIDToken() { return generation }
    return try token().generation
  }

  mutating func context(_ known: inout TextTable) throws(CodecError) -> ActiveContext {
    let role = try named(&known)
    let school = try flag() ? try named(&known) : nil
    let unit = try flag() ? try named(&known) : nil
    let count = try integer(UInt32.self)
    var permissions: [String] = []
    // A damaged count must not reserve memory: each permission takes at least its length's bytes.
    permissions.reserveCapacity(min(Int(count), remaining / MemoryLayout<UInt32>.size))
    var isSorted = true
    var last: UnsafeRawBufferPointer?
    for _ in 0..<count {
      let (start, utf8) = (offset, try textBytes())
      guard let text = known.text(utf8) else {
        throw .notUTF8(offset: start + MemoryLayout<UInt32>.size)
      }
      if let last, isSorted { isSorted = last.precedes(utf8) }
      last = utf8
      permissions.append(text)
    }
    return isSorted
      ? ActiveContext(role: role, school: school, unit: unit, sorted: permissions)
      : ActiveContext(role: role, school: school, unit: unit, permissions: permissions)
  }

  /// Skips a context; throws the same errors as `context`.
  mutating func skipContext() throws(CodecError) {
    try skipNamed()
    if try flag() { try skipNamed() }
    if try flag() { try skipNamed() }
    try skipTexts(try integer(UInt32.self))
  }

  private mutating func named(_ known: inout TextTable) throws(CodecError) -> ActiveContext.Named {
    ActiveContext.Named(id: try identifier(), name: try text(&known))
  }

  @inline(__always)
  private mutating func skipNamed() throws(CodecError) {
    try skipIdentifier()
    try skipText()
  }

  mutating func failure() throws(CodecError) -> RequestFailure {
    RequestFailure(
      kind: try code(), status: try integer(), recordedCode: try flag() ? try text() : nil,
      retryAfter: try flag() ? try integer() : nil)
  }
}
