// This list has the fields of each event once, in the order of Specs/EventCodec.md.
// FieldPass names the users of the list. `rebuilt` is always inlined, so that a visitor builds no
// event.

@_spi(Internals) extension SessionEvent {
  /// Returns the event with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> SessionEvent {
    switch self {
    case .login(let login): .login(try login.rebuilt(by: &pass))
    case .refreshSucceeded(let refresh): .refreshSucceeded(try refresh.rebuilt(by: &pass))
    case .refreshFailed(let refresh): .refreshFailed(try refresh.rebuilt(by: &pass))
    case .contextSwitched(let change): .contextSwitched(try change.rebuilt(by: &pass))
    case .sessionExpired(let expiry): .sessionExpired(try expiry.rebuilt(by: &pass))
    case .logout(let logout): .logout(try logout.rebuilt(by: &pass))
    }
  }

  /// Shows each field to the visitor.
  @inlinable
  public func visit(_ visitor: inout some FieldVisitor) { _ = rebuilt(by: &visitor) }

  /// Creates an event of this kind from what the pass returns.
  @inlinable
  public init<Pass: FieldPass>(_ kind: Kind, from pass: inout Pass) throws(Pass.Failure) {
    self = try SessionEvent.blank(kind).rebuilt(by: &pass)
  }

  /// Returns an event of this kind, for a pass that ignores the values that it is given.
  public static func blank(_ kind: Kind) -> SessionEvent {
    switch kind {
    case .login: .login(Login(user: "", method: .password, token: .blank))
    case .refreshSucceeded:
      .refreshSucceeded(
        RefreshSucceeded(
          token: .blank, trigger: .schedule, attempt: 0, isRotated: false, request: 0))
    case .refreshFailed:
      .refreshFailed(
        RefreshFailed(
          generation: .none, trigger: .schedule, attempt: 0, failure: .blank, retryAt: nil,
          request: 0))
    case .contextSwitched:
      .contextSwitched(ContextSwitched(context: .blank, token: nil, trigger: .user, request: 0))
    case .sessionExpired: .sessionExpired(SessionExpired(reason: .tokenExpired))
    case .logout: .logout(Logout(reason: .user))
    }
  }
}

@_spi(Internals) extension SessionEvent.Login {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      user: try pass.identifier("user", .user, user), method: try pass.code("method", method),
      token: try pass.token("token", token), context: try pass.context("context", context))
  }
}

@_spi(Internals) extension SessionEvent.RefreshSucceeded {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      token: try pass.token("token", token), trigger: try pass.code("trigger", trigger),
      attempt: try pass.number("attempt", attempt),
      isRotated: try pass.flag("isRotated", isRotated),
      request: try pass.sequence("request", request))
  }
}

@_spi(Internals) extension SessionEvent.RefreshFailed {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      generation: try pass.generation("generation", generation),
      trigger: try pass.code("trigger", trigger), attempt: try pass.number("attempt", attempt),
      failure: try pass.failure("failure", failure), retryAt: try pass.time("retryAt", retryAt),
      request: try pass.sequence("request", request),
      configuredMeaning: try pass.meaning(
        FieldName("meaning", label: "configuredMeaning"), configuredMeaning))
  }
}

@_spi(Internals) extension SessionEvent.ContextSwitched {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      context: try pass.context("context", context), token: try pass.token("token", token),
      trigger: try pass.code("trigger", trigger), request: try pass.sequence("request", request))
  }
}

@_spi(Internals) extension SessionEvent.SessionExpired {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(reason: try pass.reason("reason", reason))
  }
}

@_spi(Internals) extension SessionEvent.Logout {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  @inline(__always)
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(reason: try pass.reason("reason", reason))
  }
}

// Values of blank events and notes. They mean nothing; a pass that creates replaces them.

extension TokenMetadata {
  fileprivate static let blank = TokenMetadata(
    generation: .none, issuedAt: Timestamp(milliseconds: 0), expiresAt: Timestamp(milliseconds: 0),
    isRefreshable: false)
}

extension ActiveContext {
  fileprivate static let blank = ActiveContext(role: Named(id: "", name: ""))
}

extension RequestFailure {
  static let blank = RequestFailure(kind: .noConnection)
}
