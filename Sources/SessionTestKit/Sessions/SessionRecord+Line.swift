@_spi(Internals) public import SessionCore

// Lines that a failing run shows. Long texts are cut, since a reader needs the order of events
// first.

extension SessionRecord {
  package var line: String { "\(sequence)  \(content.line)" }
}

extension SessionRecord.Content {
  package var line: String {
    switch self {
    case .event(let event): event.line
    case .note(let note): "(\(note.line))"
    case .snapshot(let fold): "snapshot through \(fold.sequence), \(fold.state.line)"
    case .unknown(let unknown): "unknown(\(unknown.kind)), \(unknown.payload.count) bytes"
    }
  }
}

extension SessionEvent {
  package var line: String {
    switch self {
    case .login(let login): "login \(login.user.short) by \(login.method), \(login.token.line)"
    case .refreshSucceeded(let refresh): "refreshSucceeded \(refresh.token.line)"
    case .refreshFailed(let refresh):
      "refreshFailed \(refresh.generation), \(refresh.failure), request \(refresh.request)"
    case .contextSwitched(let change):
      "contextSwitched to \(change.context.role.id.short)"
        + (change.token.map { ", \($0.line)" } ?? "")
    case .sessionExpired(let expiry): "sessionExpired \(expiry.reason)"
    case .logout(let logout): "logout \(logout.reason)"
    }
  }
}

extension SessionNote {
  package var line: String {
    switch self {
    case .opened, .tailCut: return kind.description
    case .requestSent(let sent): return "requestSent \(sent.kind) \(sent.generation)"
    case .revocationSettled(let settled):
      return "\(kind) \(settled.generation), \(settled.outcome)"
    case .continued(let link): return "\(kind) \(link.cause), \(link.sequence)"
    case .storageFailed(let failed):
      return "\(kind) \(failed.operation) \(failed.item), \(failed.cause) \(failed.number)"
    case .storageRecovered(let recovered):
      return "\(kind) \(recovered.operation) \(recovered.item)"
    default:
      var fields = LineFields()
      visit(&fields)
      let values = fields.values.joined(separator: ", ")
      return values.isEmpty ? kind.description : "\(kind) \(values)"
    }
  }
}

/// The values of a note's fields that matter to the order of events.
private struct LineFields: FieldSearch {
  private(set) var values: [String] = []

  mutating func visit(_: FieldName, code: some OpenEnum) { values.append(code.word) }
  mutating func visit(_: FieldName, reason: some OpenEnum) { values.append(reason.word) }
  mutating func visit(_: FieldName, number: some FixedWidthInteger) { values.append("\(number)") }
  mutating func visit(_: FieldName, sequence: UInt64) { values.append("\(sequence)") }
  mutating func visit(_: FieldName, generation: Generation) { values.append("\(generation)") }
  mutating func visit(_: FieldName, failure: RequestFailure) { values.append("\(failure)") }
}

extension TokenMetadata {
  package var line: String { "\(generation)\(isRefreshable ? "" : ", not refreshable")" }
}

extension Identifier {
  /// At most 24 characters of the text, quoted if it has a space, a quote, or a character outside
  /// ASCII.
  package var short: String {
    let text = description
    let cut = text.count > 24 ? text.prefix(23) + "…" : text[...]
    let isPlain =
      !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    return isPlain ? String(cut) : String(reflecting: String(cut))
  }
}

extension SessionState {
  package var line: String {
    switch self {
    case .unauthenticated: "unauthenticated"
    case .authenticated(let session):
      "authenticated \(session.user.short), \(session.token.line)"
        + (session.failures.total == 0 ? "" : ", \(session.failures.total) failed")
    case .expired(let session): "expired \(session.user.short), \(session.reason)"
    }
  }
}

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
