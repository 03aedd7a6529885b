@_spi(Internals) package import SessionCore
package import SessionJSON

/// A state as named values, in the order of `state --json`.
///
/// Everything that shows a state reads it from here: `state`, `diff`, `step`, snapshots in a list,
/// and JSON. The fold's own sequences are no part of it: they only identify the state.
package struct StateDescription {
  // Four types took a state apart, each with its own `switch`. `diff` paired the fields of two
  // states by their position, so it showed an opening as `intents.revocations` if only one of them
  // had a request. Now both states have the same rows. Lines for people stay sentences, and each
  // chooses its words.
  package let kind: SessionState.Kind
  package let user: Identifier?
  /// `nil` unless authenticated.
  package private(set) var method: LoginMethod?
  /// When the user logged in or the session expired.
  package private(set) var since: Timestamp?
  /// `nil` unless expired.
  package private(set) var reason: ExpiryReason?
  package private(set) var context: ActiveContext?
  /// `nil` unless authenticated.
  package private(set) var token: TokenMetadata?
  /// `nil` unless authenticated.
  package private(set) var failures: SessionState.RefreshFailures?
  /// The newest token, also after the session has ended.
  package let newest: Generation
  package let intents: OpenIntents

  package init(_ fold: SessionFold) {
    kind = fold.state.kind
    user = fold.state.user
    switch fold.state {
    case .unauthenticated: break
    case .authenticated(let session):
      (method, since, context) = (session.method, session.since, session.context)
      (token, failures) = (session.token, session.failures)
    case .expired(let session):
      (since, reason, context) = (session.since, session.reason, session.context)
    }
    newest = fold.generation
    intents = fold.intents
  }

  /// All fields; each state has the same ones.
  package var fields: [Field] {
    [
      Field("state", .text(kind.description)),
      Field("user", user.map { .text($0.description) }),
      Field("method", method.map { .text($0.description) }),
      Field("since", since.map { .time($0) }),
      Field("reason", reason.map { .text($0.description) }),
      Self.context(context),
      Self.token(token),
      Self.failures(failures),
      Field("generation", .token(newest)),
      Field(group: "intents", isPresent: true, intentFields),
    ]
  }

  private var intentFields: [Field] {
    [
      Self.request(intents.request), Field("revocations", .tokens(intents.revocations)),
      Self.need(intents.need), Self.lock(intents.lock),
    ]
  }

  /// The fields of a snapshot in the journal (`Specs/EventCodec.md`): a group for each kind of
  /// state that has a user.
  var snapshotFields: [Field] {
    let fields = fields
    func group(_ name: StaticString, _ kind: SessionState.Kind, _ names: String...) -> Field {
      assert(name.description == kind.description)
      return Field(
        group: name, isPresent: self.kind == kind,
        names.compactMap { name in fields.first { $0.name.description == name } })
    }
    return [
      Field("generation", .token(newest)),
      group(
        "authenticated", .authenticated, "user", "method", "since", "token", "context", "failures"),
      group("expired", .expired, "user", "context", "reason", "since"),
    ] + intentFields
  }

  private static func context(_ context: ActiveContext?) -> Field {
    let parts: [(StaticString, ActiveContext.Named?)] = [
      ("role", context?.role), ("school", context?.school), ("unit", context?.unit),
    ]
    return Field(
      group: "context", isPresent: context != nil,
      parts.map { name, part in
        Field(
          group: name, isPresent: part != nil,
          [
            Field("id", part.map { .text($0.id.description) }),
            Field("name", part.map { .text($0.name) }),
          ])
      } + [Field("permissions", context.map { .texts(Array($0.permissions)) })])
  }

  private static func token(_ token: TokenMetadata?) -> Field {
    Field(
      group: "token", isPresent: token != nil,
      [
        Field("generation", token.map { .token($0.generation) }),
        Field("issuedAt", token.map { .time($0.issuedAt) }),
        Field("expiresAt", token.map { .time($0.expiresAt) }),
        Field("id", token?.id.map { .text($0.description) }),
        Field("isRefreshable", token.map { .flag($0.isRefreshable) }),
      ])
  }

  private static func failures(_ failures: SessionState.RefreshFailures?) -> Field {
    Field(
      group: "failures", isPresent: failures != nil,
      [
        Field("total", failures.map { .count(UInt64($0.total)) }),
        Field("answered", failures.map { .count(UInt64($0.answered)) }),
        failure("last", failures?.last),
      ])
  }

  private static func failure(_ name: StaticString, _ failure: RequestFailure?) -> Field {
    Field(
      group: name, isPresent: failure != nil,
      [
        Field("kind", failure.map { .text($0.kind.description) }),
        Field("status", failure.map { .count(UInt64($0.status)) }),
        Field("serverCode", failure?.serverCode.map { .text($0) }),
        Field("retryAfter", failure?.retryAfterMilliseconds.map { .number($0) }),
      ])
  }

  /// Describes what the server needs the user for; states without a need do not show the field.
  private static func need(_ need: OpenNeed?) -> Field {
    let needed = need?.needed
    return Field(
      group: "need", isPresent: need != nil, isOptional: true,
      [
        Field("since", need.map { .time($0.since) }),
        Field("generation", needed.map { .token($0.generation) }),
        Field("isOfCall", needed.map { .flag($0.isOfCall) }),
        failure("failure", needed?.failure),
        Field("demand", needed?.demand.map { .text($0.description) }, isOptional: true),
      ])
  }

  /// Describes the lock; states without a lock do not show the field.
  private static func lock(_ lock: OpenLock?) -> Field {
    Field(
      group: "lock", isPresent: lock != nil, isOptional: true,
      [
        Field("since", lock.map { .time($0.since) }),
        Field("reason", lock.map { .text($0.reason.description) }),
      ])
  }

  private static func request(_ request: OpenIntents.Request?) -> Field {
    let sent = request?.sent
    return Field(
      group: "request", isPresent: request != nil,
      [
        Field("sequence", request.map { .count($0.sequence) }),
        Field("kind", sent.map { .text($0.kind.description) }),
        Field("generation", sent.map { .token($0.generation) }),
        Field("trigger", sent.map { .text($0.trigger.description) }),
        Field("attempt", sent.map { .count(UInt64($0.attempt)) }),
        Field("process", sent.map { .count(UInt64($0.process)) }),
        Field("deadline", sent.map { .time($0.deadline) }),
        identity(sent?.identity),
      ])
  }

  /// Describes the opening that sent the request.
  ///
  /// A comparison shows only which opening it is: the rest belongs to that opening.
  private static func identity(_ identity: ProcessIdentity?) -> Field {
    Field(
      group: "identity", isPresent: identity != nil, isOptional: true, isNamedInPaths: false,
      [
        Field("opening", identity.map { .text($0.opening.description) }, isOptional: true),
        Field("boot", identity?.boot.map { .text($0.description) }, isCompared: false),
        Field("namespace", identity?.namespace.map { .text($0.description) }, isCompared: false),
        Field("start", identity.map { .count($0.start) }, isCompared: false),
        Field("lock", identity?.lock.map { .text($0.description) }, isCompared: false),
      ])
  }
}

extension StateDescription {
  /// A named value, or a named group of fields.
  package struct Field {
    fileprivate enum Content {
      case value(Value)
      case group([Field], isPresent: Bool)
    }

    fileprivate let name: StaticString
    fileprivate let content: Content
    /// Whether older journals do not have it: then it is left out if it is absent.
    fileprivate let isOptional: Bool
    /// Whether a comparison of two states shows it.
    fileprivate let isCompared: Bool
    /// Whether the paths of a group's fields contain the name of the group.
    fileprivate let isNamedInPaths: Bool

    fileprivate init(
      _ name: StaticString, _ value: Value?, isOptional: Bool = false, isCompared: Bool = true
    ) {
      self.name = name
      content = .value(value ?? .none)
      self.isOptional = isOptional
      self.isCompared = isCompared
      isNamedInPaths = true
    }

    fileprivate init(
      group name: StaticString, isPresent: Bool, isOptional: Bool = false,
      isNamedInPaths: Bool = true,
      _ fields: [Field]
    ) {
      self.name = name
      content = .group(fields, isPresent: isPresent)
      self.isOptional = isOptional
      isCompared = true
      self.isNamedInPaths = isNamedInPaths
    }
  }

  /// A value with its names, joined by dots: `context.role.id`.
  package struct Row {
    package let path: String
    package let value: Value
    /// Whether it is left out if it is absent.
    package let isOptional: Bool
  }

  /// The values that a comparison shows.
  ///
  /// Each state has the same rows in the same order.
  package var rows: [Row] { Self.rows(fields, below: "") }

  private static func rows(_ fields: [Field], below prefix: String) -> [Row] {
    fields.filter(\.isCompared).flatMap { field -> [Row] in
      switch field.content {
      case .value(let value):
        [Row(path: prefix + field.name.description, value: value, isOptional: field.isOptional)]
      case .group(let fields, _):
        rows(fields, below: field.isNamedInPaths ? "\(prefix)\(field.name)." : prefix)
      }
    }
  }

  /// The value of a field.
  package enum Value: Equatable, Sendable {
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
}

extension JSONWriter {
  /// Writes a field of a state; a group is one object.
  package mutating func field(_ field: StateDescription.Field) {
    switch field.content {
    case .value(let value): self.field(field.name, value)
    case .group(let fields, isPresent: true):
      object(field.name) { json in
        for field in fields { json.field(field) }
      }
    case .group(_, isPresent: false): if !field.isOptional { null(field.name) }
    }
  }

  package mutating func field(_ name: StaticString, _ value: StateDescription.Value) {
    switch value {
    case .none: null(name)
    case .text(let text): field(name, text)
    case .number(let number): field(name, number)
    case .count(let count): field(name, count)
    case .token(let generation): field(name, generation.number)
    case .flag(let flag): field(name, flag)
    case .time(let time): field(name, time)
    case .texts(let texts): array(name, texts) { $0.value($1) }
    case .tokens(let tokens): array(name, tokens) { $0.value($1.number) }
    }
  }
}
