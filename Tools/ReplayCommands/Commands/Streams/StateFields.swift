@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A state as named values for comparison; the names are those of `state --json`, with dots
/// between.
struct StateFields {
  /// The value of a field.
  enum Value: Equatable {
    case none
    case text(String)
    case number(Int64)
    case count(UInt64)
    case token(Generation)
    case flag(Bool)
    case time(Timestamp)
    case texts([String])
    case tokens([Generation])
  }

  private(set) var list: [(name: String, value: Value)] = []

  /// Reads the fields of a state.
  ///
  /// The state's own sequences and time are no fields: they only identify the state.
  init(_ fold: SessionFold) {
    add("state", .text(fold.state.kind.description))
    add("user", fold.state.user.map { .text($0.description) })
    switch fold.state {
    case .unauthenticated:
      session()
    case .authenticated(let session):
      self.session(
        method: session.method, since: session.since, context: session.context,
        token: session.token, failures: session.failures)
    case .expired(let session):
      self.session(since: session.since, reason: session.reason, context: session.context)
    }
    add("generation", .token(fold.generation))
    add(fold.intents)
  }

  private mutating func add(_ name: String, _ value: Value?) {
    list.append((name, value ?? .none))
  }

  private mutating func session(
    method: LoginMethod? = nil, since: Timestamp? = nil, reason: ExpiryReason? = nil,
    context: ActiveContext? = nil, token: TokenMetadata? = nil,
    failures: SessionState.RefreshFailures? = nil
  ) {
    add("method", method.map { .text($0.description) })
    add("since", since.map { .time($0) })
    add("reason", reason.map { .text($0.description) })
    for (name, part) in [
      ("role", context?.role), ("school", context?.school), ("unit", context?.unit),
    ] {
      add("context.\(name).id", part.map { .text($0.id.description) })
      add("context.\(name).name", part.map { .text($0.name) })
    }
    add("context.permissions", context.map { .texts(Array($0.permissions)) })
    add("token.generation", token.map { .token($0.generation) })
    add("token.issuedAt", token.map { .time($0.issuedAt) })
    add("token.expiresAt", token.map { .time($0.expiresAt) })
    add("token.id", token?.id.map { .text($0.description) })
    add("token.isRefreshable", token.map { .flag($0.isRefreshable) })
    add("failures.total", failures.map { .count(UInt64($0.total)) })
    add("failures.answered", failures.map { .count(UInt64($0.answered)) })
    let last = failures?.last
    add("failures.last.kind", last.map { .text($0.kind.description) })
    add("failures.last.status", last.map { .count(UInt64($0.status)) })
    add("failures.last.serverCode", last?.serverCode.map { .text($0) })
    add("failures.last.retryAfter", last?.retryAfterMilliseconds.map { .number($0) })
  }

  private mutating func add(_ intents: OpenIntents) {
    let request = intents.request
    let sent = request?.sent
    add("intents.request.sequence", request.map { .count($0.sequence) })
    add("intents.request.kind", sent.map { .text($0.kind.description) })
    add("intents.request.generation", sent.map { .token($0.generation) })
    add("intents.request.trigger", sent.map { .text($0.trigger.description) })
    add("intents.request.attempt", sent.map { .count(UInt64($0.attempt)) })
    add("intents.request.process", sent.map { .count(UInt64($0.process)) })
    add("intents.request.deadline", sent.map { .time($0.deadline) })
    // This field exists only if the note has it, so that older journals keep their rows.
    if let opening = sent?.identity?.opening {
      add("intents.request.opening", .text(opening.description))
    }
    add("intents.revocations", .tokens(intents.revocations))
  }
}

extension StateFields.Value {
  /// Returns the value as one line for people.
  func text(_ zone: TimeZoneChoice) -> String {
    switch self {
    case .none: "none"
    case .text(let text): text.isEmpty ? "(empty)" : text.printable
    case .number(let number): number.grouped
    case .count(let count): count.grouped
    case .token(let generation): generation == .none ? "none" : "\(generation)"
    case .flag(let flag): flag ? "yes" : "no"
    case .time(let time): zone.text(time)
    case .texts(let texts): texts.isEmpty ? "none" : texts.map(\.printable).joined(separator: ", ")
    case .tokens(let tokens):
      tokens.isEmpty ? "none" : tokens.map(\.description).joined(separator: ", ")
    }
  }

  /// Writes the value as `state --json` does.
  func write(_ name: String, _ json: inout JSONWriter) {
    switch self {
    case .none: json.null(name)
    case .text(let text): json.field(name, text)
    case .number(let number): json.field(name, number)
    case .count(let count): json.field(name, count)
    case .token(let generation): json.field(name, generation.number)
    case .flag(let flag): json.field(name, flag)
    case .time(let time): json.field(name, time)
    case .texts(let texts): json.array(name, texts) { $0.value($1) }
    case .tokens(let tokens): json.array(name, tokens) { $0.value($1.number) }
    }
  }
}
