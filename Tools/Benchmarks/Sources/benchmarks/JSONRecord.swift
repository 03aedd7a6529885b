@_spi(Internals) internal import SessionCore

/// A record as an app would store it in JSON lines: the same fields, with Codable only.
struct JSONRecord: Codable {
  enum Event: Codable {
    case login(user: String, method: String, token: Token, context: Context?)
    case refreshSucceeded(
      token: Token, trigger: String, attempt: UInt32, isRotated: Bool, request: UInt64)
    case contextSwitched(context: Context, token: Token?, trigger: String, request: UInt64)
    case logout(reason: String)
  }

  struct Token: Codable {
    let generation: UInt64
    let issuedAt: Int64
    let expiresAt: Int64
    let id: String?
    let isRefreshable: Bool
  }

  struct Role: Codable {
    let id: String
    let name: String
  }

  struct Context: Codable {
    let role: Role
    let permissions: [String]
  }

  let sequence: UInt64
  let time: Int64
  let event: Event
}

extension JSONRecord {
  init(_ record: SessionRecord) throws {
    sequence = record.sequence
    time = record.time.milliseconds
    switch record.event {
    case .login(let login):
      event = .login(
        user: login.user.description, method: login.method.description,
        token: Token(login.token), context: login.context.map(Context.init))
    case .refreshSucceeded(let refresh):
      event = .refreshSucceeded(
        token: Token(refresh.token), trigger: refresh.trigger.description,
        attempt: refresh.attempt, isRotated: refresh.isRotated, request: refresh.request)
    case .contextSwitched(let change):
      event = .contextSwitched(
        context: Context(change.context), token: change.token.map(Token.init),
        trigger: change.trigger.description, request: change.request)
    case .logout(let logout):
      event = .logout(reason: logout.reason.description)
    default:
      throw Problem("the workload has no \(record.name)")
    }
  }

  /// Returns the record for folding.
  func record() throws -> SessionRecord {
    SessionRecord(
      sequence: sequence, time: Timestamp(milliseconds: time), content: .event(try sessionEvent()))
  }

  private func sessionEvent() throws -> SessionEvent {
    switch event {
    case .login(let user, let method, let token, let context):
      .login(
        SessionEvent.Login(
          user: Identifier(user), method: try code(method), token: token.facts,
          context: context?.value))
    case .refreshSucceeded(let token, let trigger, let attempt, let isRotated, let request):
      .refreshSucceeded(
        SessionEvent.RefreshSucceeded(
          token: token.facts, trigger: try code(trigger), attempt: attempt, isRotated: isRotated,
          request: request))
    case .contextSwitched(let context, let token, let trigger, let request):
      .contextSwitched(
        SessionEvent.ContextSwitched(
          context: context.value, token: token?.facts, trigger: try code(trigger),
          request: request))
    case .logout(let reason):
      .logout(SessionEvent.Logout(reason: try code(reason)))
    }
  }

  private func code<Value: OpenEnum>(_ word: String) throws -> Value {
    guard let code = Value(word: word) else { throw Problem("no word of the journal: \(word)") }
    return code
  }
}

extension JSONRecord.Token {
  init(_ token: TokenMetadata) {
    generation = token.generation.number
    issuedAt = token.issuedAt.milliseconds
    expiresAt = token.expiresAt.milliseconds
    id = token.id?.description
    isRefreshable = token.isRefreshable
  }

  var facts: TokenMetadata {
    TokenMetadata(
      generation: Generation(generation), issuedAt: Timestamp(milliseconds: issuedAt),
      expiresAt: Timestamp(milliseconds: expiresAt), id: id.map { Identifier($0) },
      isRefreshable: isRefreshable)
  }
}

extension JSONRecord.Context {
  init(_ context: ActiveContext) {
    role = JSONRecord.Role(id: context.role.id.description, name: context.role.name)
    permissions = context.permissions
  }

  var value: ActiveContext {
    ActiveContext(
      role: ActiveContext.Named(id: Identifier(role.id), name: role.name),
      permissions: permissions)
  }
}
