@_spi(Internals) public import SessionCore

/// Events with the values that matter to a test, and plain values for the rest.
extension SessionEvent {
  /// Returns a `login` of a user, with a token of this generation.
  public static func login(
    as user: Identifier, token: UInt64 = 1, method: LoginMethod = .password,
    context: ActiveContext? = nil, isRefreshable: Bool = true
  ) -> SessionEvent {
    .login(
      Login(
        user: user, method: method, token: .plain(token, isRefreshable: isRefreshable),
        context: context))
  }

  /// Returns a `refreshSucceeded` with a token of this generation.
  public static func refreshed(to token: UInt64, request: UInt64 = 0) -> SessionEvent {
    .refreshSucceeded(
      RefreshSucceeded(
        token: .plain(token), trigger: .schedule, attempt: 1, isRotated: true, request: request))
  }

  /// Returns a `refreshFailed` of the token with this generation.
  public static func refreshFailed(
    _ kind: RequestFailure.Kind, of token: UInt64, request: UInt64 = 0
  ) -> SessionEvent {
    .refreshFailed(
      RefreshFailed(
        generation: Generation(token), trigger: .schedule, attempt: 1,
        failure: RequestFailure(kind: kind), retryAt: nil, request: request))
  }

  /// Returns a `contextSwitched`, with a token of this generation if one is given.
  public static func switched(to context: ActiveContext, token: UInt64? = nil) -> SessionEvent {
    .contextSwitched(
      ContextSwitched(
        context: context, token: token.map { .plain($0) },
        trigger: token == nil ? .server : .user, request: 0))
  }

  /// Returns a `sessionExpired` for this reason.
  public static func expired(_ reason: ExpiryReason) -> SessionEvent {
    .sessionExpired(SessionExpired(reason: reason))
  }

  /// Returns a `logout` for this reason.
  public static func loggedOut(_ reason: LogoutReason = .user) -> SessionEvent {
    .logout(Logout(reason: reason))
  }
}

extension TokenMetadata {
  /// Returns a token that by default was issued at the plain start and lives for an hour.
  public static func plain(
    _ generation: UInt64, issuedAt: Timestamp = .plainStart, lifetime: Duration = .seconds(3600),
    isRefreshable: Bool = true
  ) -> TokenMetadata {
    TokenMetadata(
      generation: Generation(generation), issuedAt: issuedAt,
      expiresAt: issuedAt.advanced(by: lifetime.milliseconds(atLeast: .min)),
      isRefreshable: isRefreshable)
  }
}

extension Timestamp {
  /// The time at which a test begins if the time does not matter: 1970-01-12T13:46:40Z.
  public static let plainStart = Timestamp(milliseconds: 1_000_000_000)
}

extension ActiveContext {
  /// A teacher at one school, with one permission to read.
  public static let plainTeacher = ActiveContext(
    role: Named(id: "r-1", name: "Teacher"), school: Named(id: "s-1", name: "North"),
    permissions: ["materials:read"])

  /// The principal of the same school, with one more permission.
  public static let plainPrincipal = ActiveContext(
    role: Named(id: "r-2", name: "Principal"), school: Named(id: "s-1", name: "North"),
    permissions: ["materials:read", "users:write"])
}
