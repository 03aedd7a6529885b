@_spi(Internals) internal import SessionCore
internal import SessionExplain
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
    if let content = content(record.content) {
      return "SessionRecord(sequence: \(record.sequence), time: \(time(record.time)), "
        + "content: \(content)\(record.hasUnknownFields ? ", hasUnknownFields: true" : ""))"
    }
    let payload = SessionCodec.encode(record.content, at: record.time).payload
    let bytes = payload.map { "0x" + [$0].hexadecimal }.joined(separator: ", ")
    return "try SessionCodec.decode(sequence: \(record.sequence), kind: \(record.content.kind), "
      + "payload: [\(bytes)])"
  }

  /// Returns the content as an expression; `nil` if no initializers create the same value.
  private static func content(_ content: SessionRecord.Content) -> String? {
    var fields = LiteralFields()
    switch content {
    case .event(let event):
      event.visit(&fields)
      return fields.expression(event.kind.description).map { ".event(\($0))" }
    case .note(let note):
      note.visit(&fields)
      return fields.expression(note.kind.description).map { ".note(\($0))" }
    case .unknown(let unknown):
      return ".unknown(.init(kind: \(unknown.kind), payload: \(unknown.payload)))"
    // Only a fold can create a snapshot.
    case .snapshot: return nil
    }
  }

  fileprivate static func identity(_ identity: ProcessIdentity) -> String {
    "ProcessIdentity(opening: \(id(identity.opening)), "
      + "boot: \(optional(identity.boot, id)), namespace: \(optional(identity.namespace, id)), "
      + "start: \(identity.start), lock: \(optional(identity.lock, id)))"
  }

  fileprivate static func optional<Value>(_ value: Value?, _ spell: (Value) -> String) -> String {
    value.map(spell) ?? "nil"
  }

  /// Returns the code by its byte, because codes of later versions have no name here.
  fileprivate static func code(_ code: some OpenEnum) -> String {
    ".init(rawValue: \(code.rawValue))"
  }
  fileprivate static func id(_ id: Identifier) -> String { text(id.description) }
  fileprivate static func generation(_ token: Generation) -> String {
    "Generation(\(token.number))"
  }
  fileprivate static func time(_ time: Timestamp) -> String {
    "Timestamp(milliseconds: \(time.milliseconds))"
  }

  fileprivate static func token(_ token: TokenMetadata) -> String {
    "TokenMetadata(generation: \(generation(token.generation)), issuedAt: \(time(token.issuedAt)), "
      + "expiresAt: \(time(token.expiresAt)), id: \(optional(token.id, id)), "
      + "isRefreshable: \(token.isRefreshable))"
  }

  fileprivate static func context(_ context: ActiveContext) -> String {
    "ActiveContext(role: \(named(context.role)), school: \(optional(context.school, named)), "
      + "unit: \(optional(context.unit, named)), "
      + "permissions: [\(context.permissions.map(text).joined(separator: ", "))])"
  }

  fileprivate static func named(_ named: ActiveContext.Named) -> String {
    ".init(id: \(id(named.id)), name: \(text(named.name)))"
  }

  fileprivate static func failure(_ failure: RequestFailure) -> String {
    "RequestFailure(kind: \(code(failure.kind)), status: \(failure.status), "
      + "serverCode: \(optional(failure.serverCode, text)), "
      + "retryAfter: \(optional(failure.retryAfterMilliseconds) { ".milliseconds(\($0))" }))"
  }
}

/// The arguments of an initializer, one for each field.
private struct LiteralFields: FieldVisitor {
  private var arguments: [String] = []
  /// Whether the payload has a type of its own, which an initializer creates.
  private var hasType = false
  /// Whether initializers create the same value.
  private var isSpelled = true

  /// Returns the case with this name and its payload; `nil` if initializers create another value.
  func expression(_ name: String) -> String? {
    guard isSpelled else { return nil }
    guard !arguments.isEmpty else { return ".\(name)" }
    let list = arguments.joined(separator: ", ")
    return hasType ? ".\(name)(.init(\(list)))" : ".\(name)(\(list))"
  }

  private mutating func append(_ name: FieldName, _ expression: String) {
    guard let label = name.label else { return arguments.append(expression) }
    arguments.append("\(label): \(expression)")
    hasType = true
  }

  mutating func visit(_ name: FieldName, code: some OpenEnum) {
    append(name, SwiftLiteral.code(code))
  }

  mutating func visit(_ name: FieldName, reason: some OpenEnum) {
    append(name, SwiftLiteral.code(reason))
  }

  mutating func visit(_ name: FieldName, meaning: ErrorMeaning?) {
    if let meaning { append(name, SwiftLiteral.code(meaning)) }
  }

  mutating func visit(_ name: FieldName, number: some FixedWidthInteger) {
    append(name, "\(number)")
  }

  mutating func visit(_ name: FieldName, sequence: UInt64) { append(name, "\(sequence)") }
  mutating func visit(_ name: FieldName, flag: Bool) { append(name, "\(flag)") }

  mutating func visit(_ name: FieldName, time: Timestamp?) {
    append(name, SwiftLiteral.optional(time, SwiftLiteral.time))
  }

  mutating func visit(_ name: FieldName, generation: Generation) {
    append(name, SwiftLiteral.generation(generation))
  }

  mutating func visit(_ name: FieldName, _: IdentifierKind, identifier: Identifier?) {
    append(name, SwiftLiteral.optional(identifier, SwiftLiteral.id))
  }

  mutating func visit(_ name: FieldName, version: AppVersion?) {
    append(
      name,
      SwiftLiteral.optional(version) { "AppVersion(\(SwiftLiteral.text($0.description)))" })
  }

  mutating func visit(_ name: FieldName, token: TokenMetadata?) {
    append(name, SwiftLiteral.optional(token, SwiftLiteral.token))
  }

  mutating func visit(_ name: FieldName, context: ActiveContext?) {
    append(name, SwiftLiteral.optional(context, SwiftLiteral.context))
  }

  mutating func visit(_ name: FieldName, failure: RequestFailure) {
    let spelled = RequestFailure(kind: failure.kind, serverCode: failure.serverCode)
    isSpelled = isSpelled && spelled.serverCode == failure.serverCode
    append(name, SwiftLiteral.failure(failure))
  }

  mutating func visit(_ name: FieldName, identity: ProcessIdentity?) {
    guard let identity else { return }
    append(name, SwiftLiteral.identity(identity))
  }

  mutating func visit(_ name: FieldName, platform: Platform?) {
    if let platform { append(name, SwiftLiteral.code(platform)) }
  }
}
