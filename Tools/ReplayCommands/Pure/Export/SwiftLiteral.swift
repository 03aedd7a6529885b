@_spi(Internals) internal import SessionCore
internal import SessionJSON

/// Values as Swift source code.
enum SwiftLiteral {
  static func text(_ value: String) -> String {
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case _
      where scalar.isUnprintable || scalar.properties.isGraphemeExtend
        || scalar.properties.isDefaultIgnorableCodePoint:
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// Returns the record as an expression, which can throw if only the record's bytes describe it
  /// fully.
  static func record(_ record: SessionRecord) -> String {
    if isSpelled(record), let content = content(record.content) {
      return "SessionRecord(sequence: \(record.sequence), time: \(time(record.time)), "
        + "content: \(content)\(record.hasUnknownFields ? ", hasUnknownFields: true" : ""))"
    }
    let payload = SessionCodec.encode(record.content, at: record.time).payload
    let bytes = payload.map { "0x" + [$0].hexadecimal }.joined(separator: ", ")
    return "try SessionCodec.decode(sequence: \(record.sequence), kind: \(record.content.kind), "
      + "payload: [\(bytes)])"
  }

  /// Whether its initializers create the same value.
  private static func isSpelled(_ record: SessionRecord) -> Bool {
    switch record.content {
    case .event(.refreshFailed(let refresh)): return isSpelled(refresh.failure)
    case .note(.requestEnded(let ended)): return isSpelled(ended.failure)
    default: return true
    }
  }

  private static func isSpelled(_ failure: RequestFailure) -> Bool {
    RequestFailure(kind: failure.kind, serverCode: failure.serverCode).serverCode
      == failure.serverCode
  }

  private static func content(_ content: SessionRecord.Content) -> String? {
    switch content {
    case .event(let event): ".event(\(self.event(event)))"
    case .note(let note): ".note(\(self.note(note)))"
    case .unknown(let unknown):
      ".unknown(.init(kind: \(unknown.kind), payload: \(unknown.payload)))"
    // Only a fold can create a snapshot.
    case .snapshot: nil
    }
  }

  private static func event(_ event: SessionEvent) -> String {
    switch event {
    case .login(let login):
      ".login(.init(user: \(id(login.user)), method: \(code(login.method)), "
        + "token: \(token(login.token)), context: \(optional(login.context, context))))"
    case .refreshSucceeded(let refresh):
      ".refreshSucceeded(.init(token: \(token(refresh.token)), trigger: \(code(refresh.trigger)), "
        + "attempt: \(refresh.attempt), isRotated: \(refresh.isRotated), request: \(refresh.request)))"
    case .refreshFailed(let refresh):
      ".refreshFailed(.init(generation: \(generation(refresh.generation)), "
        + "trigger: \(code(refresh.trigger)), attempt: \(refresh.attempt), "
        + "failure: \(failure(refresh.failure)), retryAt: \(optional(refresh.retryAt, time)), "
        + "request: \(refresh.request)"
        + (refresh.configuredMeaning.map { ", configuredMeaning: \(code($0))" } ?? "") + "))"
    case .contextSwitched(let change):
      ".contextSwitched(.init(context: \(context(change.context)), "
        + "token: \(optional(change.token, token)), trigger: \(code(change.trigger)), "
        + "request: \(change.request)))"
    case .sessionExpired(let expiry): ".sessionExpired(.init(reason: \(code(expiry.reason))))"
    case .logout(let logout): ".logout(.init(reason: \(code(logout.reason))))"
    }
  }

  private static func note(_ note: SessionNote) -> String {
    switch note {
    case .opened(let opened):
      ".opened(.init(process: \(opened.process), boot: \(optional(opened.boot, id)), "
        + "uptime: \(opened.uptime), "
        + "app: \(optional(opened.app) { "AppVersion(\(text($0.description)))" })"
        + "\(identity(opened.identity))))"
    case .closed: ".closed"
    case .tailCut(let cut):
      ".tailCut(.init(bytes: \(cut.bytes), isUndetermined: \(cut.isUndetermined)))"
    case .requestSent(let sent):
      ".requestSent(.init(kind: \(code(sent.kind)), generation: \(generation(sent.generation)), "
        + "trigger: \(code(sent.trigger)), attempt: \(sent.attempt), process: \(sent.process), "
        + "deadline: \(time(sent.deadline))\(identity(sent.identity))))"
    case .requestEnded(let ended):
      ".requestEnded(.init(request: \(ended.request), failure: \(failure(ended.failure))))"
    case .tokenRecovered(let token): ".tokenRecovered(\(generation(token)))"
    case .revocationPending(let token): ".revocationPending(\(generation(token)))"
    case .revocationSettled(let settled):
      ".revocationSettled(.init(generation: \(generation(settled.generation)), "
        + "outcome: \(code(settled.outcome)), status: \(settled.status)))"
    case .secretsWiped(let cause): ".secretsWiped(\(code(cause)))"
    case .itemUnreadable(let item): ".itemUnreadable(\(code(item)))"
    case .continued(let link):
      ".continued(.init(journal: \(optional(link.journal, id)), sequence: \(link.sequence), "
        + "cause: \(code(link.cause))))"
    case .clockSkew(let milliseconds): ".clockSkew(\(milliseconds))"
    case .localDataCleared: ".localDataCleared"
    case .storageFailed(let failed):
      ".storageFailed(.init(item: \(code(failed.item)), operation: \(code(failed.operation)), "
        + "cause: \(code(failed.cause)), number: \(failed.number)))"
    case .storageRecovered(let recovered):
      ".storageRecovered(.init(item: \(code(recovered.item)), "
        + "operation: \(code(recovered.operation))))"
    case .answerDropped(let dropped):
      ".answerDropped(.init(request: \(dropped.request), cause: \(code(dropped.cause))))"
    case .answerUnused(let request): ".answerUnused(\(request))"
    }
  }

  /// Returns the identity as a last argument; nothing if there is none.
  private static func identity(_ identity: ProcessIdentity?) -> String {
    guard let identity else { return "" }
    return ", identity: ProcessIdentity(opening: \(id(identity.opening)), "
      + "boot: \(optional(identity.boot, id)), namespace: \(optional(identity.namespace, id)), "
      + "start: \(identity.start), lock: \(optional(identity.lock, id)))"
  }

  private static func optional<Value>(_ value: Value?, _ spell: (Value) -> String) -> String {
    value.map(spell) ?? "nil"
  }

  /// Returns the code by its byte, because codes of later versions have no name here.
  private static func code(_ code: some OpenEnum) -> String { ".init(rawValue: \(code.rawValue))" }
  private static func id(_ id: Identifier) -> String { text(id.description) }
  private static func generation(_ token: Generation) -> String { "Generation(\(token.number))" }
  private static func time(_ time: Timestamp) -> String {
    "Timestamp(milliseconds: \(time.milliseconds))"
  }

  private static func token(_ token: TokenMetadata) -> String {
    "TokenMetadata(generation: \(generation(token.generation)), issuedAt: \(time(token.issuedAt)), "
      + "expiresAt: \(time(token.expiresAt)), id: \(optional(token.id, id)), "
      + "isRefreshable: \(token.isRefreshable))"
  }

  private static func context(_ context: ActiveContext) -> String {
    "ActiveContext(role: \(named(context.role)), school: \(optional(context.school, named)), "
      + "unit: \(optional(context.unit, named)), "
      + "permissions: [\(context.permissions.map(text).joined(separator: ", "))])"
  }

  private static func named(_ named: ActiveContext.Named) -> String {
    ".init(id: \(id(named.id)), name: \(text(named.name)))"
  }

  private static func failure(_ failure: RequestFailure) -> String {
    "RequestFailure(kind: \(code(failure.kind)), status: \(failure.status), "
      + "serverCode: \(optional(failure.serverCode, text)), "
      + "retryAfter: \(optional(failure.retryAfterMilliseconds) { ".milliseconds(\($0))" }))"
  }
}
