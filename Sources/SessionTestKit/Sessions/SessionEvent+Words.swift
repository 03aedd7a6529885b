@_spi(Internals) public import SessionCore

/// Events as a test says them: with what matters to it, and a plain value for the rest.
extension SessionEvent {
  /// `login` of a user with the token of this generation.
  public static func login(
    as user: Identifier, token: UInt64 = 1, method: LoginMethod = .password,
    context: ActiveContext? = nil, isRefreshable: Bool = true
  ) -> SessionEvent {
    .login(
      Login(
        user: user, method: method, token: .plain(token, isRefreshable: isRefreshable),
        context: context))
  }

  /// `refreshSucceeded` with the token of this generation.
  public static func refreshed(to token: UInt64, request: UInt64 = 0) -> SessionEvent {
    .refreshSucceeded(
      RefreshSucceeded(
        token: .plain(token), trigger: .schedule, attempt: 1, isRotated: true, request: request))
  }

  /// `refreshFailed` of the token of this generation.
  public static func refreshFailed(
    _ kind: RequestFailure.Kind, of token: UInt64, request: UInt64 = 0
  ) -> SessionEvent {
    .refreshFailed(
      RefreshFailed(
        generation: Generation(token), trigger: .schedule, attempt: 1,
        failure: RequestFailure(kind: kind), retryAt: nil, request: request))
  }

  /// `contextSwitched`, with the token of this generation where one came with it.
  public static func switched(to context: ActiveContext, token: UInt64? = nil) -> SessionEvent {
    .contextSwitched(
      ContextSwitched(
        context: context, token: token.map { .plain($0) },
        trigger: token == nil ? .server : .user, request: 0))
  }

  /// `sessionExpired` for this reason.
  public static func expired(_ reason: ExpiryReason) -> SessionEvent {
    .sessionExpired(SessionExpired(reason: reason))
  }

  /// `logout` for this reason.
  public static func loggedOut(_ reason: LogoutReason = .user) -> SessionEvent {
    .logout(Logout(reason: reason))
  }
}

extension TokenMetadata {
  /// A token that was issued at the plain start of a test and lives for an hour.
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
  /// When a test begins that does not care: 1970-01-12T13:46:40Z.
  public static let plainStart = Timestamp(milliseconds: 1_000_000_000)
}

extension ActiveContext {
  /// A teacher of one school who may read.
  public static let plainTeacher = ActiveContext(
    role: Named(id: "r-1", name: "Teacher"), school: Named(id: "s-1", name: "North"),
    permissions: ["materials:read"])

  /// The same school's principal, who may do more.
  public static let plainPrincipal = ActiveContext(
    role: Named(id: "r-2", name: "Principal"), school: Named(id: "s-1", name: "North"),
    permissions: ["materials:read", "users:write"])
}
