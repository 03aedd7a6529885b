@_spi(Internals) package import SessionCore

/// Contents of records, in the few words that a history written by hand needs.
extension SessionRecord.Content {
  package static func opened(
    by process: UInt32, boot: Identifier? = "boot-1", uptime: Int64 = 86_400_000,
    app: AppVersion? = nil
  ) -> Self { .note(.opened(.init(process: process, boot: boot, uptime: uptime, app: app))) }

  package static func login(
    _ user: Identifier, _ token: TokenMetadata, by method: LoginMethod = .password,
    context: ActiveContext? = nil
  ) -> Self { .event(.login(.init(user: user, method: method, token: token, context: context))) }

  /// A request with the token of a generation that is sent.
  package static func sent(
    _ generation: UInt64, by process: UInt32, until deadline: Timestamp,
    _ trigger: RefreshTrigger = .schedule, attempt: UInt32 = 1, kind: RequestKind = .refresh
  ) -> Self {
    .note(
      .requestSent(
        .init(
          kind: kind, generation: Generation(generation), trigger: trigger, attempt: attempt,
          process: process, deadline: deadline)))
  }

  /// A refresh that succeeded; `request` is the sequence of the note about it.
  package static func refreshed(
    _ token: TokenMetadata, _ request: UInt64, _ trigger: RefreshTrigger = .schedule,
    attempt: UInt32 = 1, isRotated: Bool = true
  ) -> Self {
    .event(
      .refreshSucceeded(
        .init(
          token: token, trigger: trigger, attempt: attempt, isRotated: isRotated, request: request))
    )
  }

  /// A refresh that failed; `request` is the sequence of the note about it.
  package static func failed(
    _ failure: RequestFailure, _ generation: UInt64, _ request: UInt64, retryAt: Timestamp? = nil,
    _ trigger: RefreshTrigger = .schedule, attempt: UInt32 = 1
  ) -> Self {
    .event(
      .refreshFailed(
        .init(
          generation: Generation(generation), trigger: trigger, attempt: attempt, failure: failure,
          retryAt: retryAt, request: request)))
  }

  package static func switched(
    _ context: ActiveContext, _ token: TokenMetadata?, _ request: UInt64
  ) -> Self {
    .event(
      .contextSwitched(.init(context: context, token: token, trigger: .user, request: request)))
  }
}

extension TokenMetadata {
  /// Returns the metadata of a token that was issued at this time; its lifetime is in milliseconds.
  package static func issued(
    _ generation: UInt64, at time: Timestamp, lives lifetime: Int64 = 3_600_000,
    id: Identifier? = nil, isRefreshable: Bool = true
  ) -> TokenMetadata {
    TokenMetadata(
      generation: Generation(generation), issuedAt: time, expiresAt: time.advanced(by: lifetime),
      id: id, isRefreshable: isRefreshable)
  }
}
