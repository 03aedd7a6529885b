@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A reader of events and notes whose lines are spelled exactly as `export` spells them.
///
/// The members of such a line have the order of the fields in the payload. So the reader writes each
/// field to the payload when it has read it, and makes no record. What it returns as a pass over the
/// fields of a blank event or note is used for the version of the payload only.
///
/// Another line may be good too: ``ImportObject`` reads it.
struct ExactLines {
  /// A kind of event or note.
  private enum Kind: Sendable {
    case event(SessionEvent.Kind)
    case note(SessionNote.Kind)

    var name: String {
      switch self {
      case .event(let kind): kind.description
      case .note(let kind): kind.description
      }
    }

    var line: LineClass {
      switch self {
      case .event: .event
      case .note: .note
      }
    }
  }

  /// The kinds with their names, and with the classes of their lines.
  private static let kinds =
    (SessionEvent.Kind.allCases.map(Kind.event) + SessionNote.Kind.allCases.map(Kind.note))
    .map { kind in
      (name: Array(kind.name.utf8), line: Array(kind.line.rawValue.utf8), kind: kind)
    }
  /// The place of the version in a payload; it is known only after the fields.
  private static let versionOffset = 8

  /// The members of the line that is being read; its bytes are valid only meanwhile.
  private var members = ExactMembers.none
  private var payload = PayloadWriter()
  /// Whether the event or note has an identity.
  private var hasIdentity = false

  /// Returns the record of a line; `nil` if the line is spelled otherwise, or if anything is wrong with it.
  mutating func record(_ line: UnsafeBufferPointer<UInt8>) -> ImportRecord? {
    members = ExactMembers(line)
    payload.removeAll()
    hasIdentity = false
    defer { members = .none }
    do throws(ImportProblem) {
      return try record()
    } catch {
      return nil
    }
  }

  private mutating func record() throws(ImportProblem) -> ImportRecord? {
    try members.open()
    guard try members.number("v") == 1 else { return nil }
    let line = try members.spelling("class")
    let (sequence, left): (UInt64, UInt16) = (
      try members.number("sequence"), try members.number("remainingInBatch")
    )
    let name = try members.spelling("name")
    guard let kind = Self.kind(name, line) else { return nil }
    payload.write(try members.time("time"))
    payload.write(UInt8(0))
    try members.open("facts")
    let (byte, version) = try facts(kind)
    try members.close()
    try members.close()
    guard members.isAtEnd else { return nil }
    payload.replace(version: version, at: Self.versionOffset)
    return ImportRecord(
      sequence: sequence, kind: byte, remainingInBatch: left, payload: payload.bytes)
  }

  /// Returns the kind with this name and class of line; `nil` if the record is of another kind.
  private static func kind(
    _ name: UnsafeBufferPointer<UInt8>, _ line: UnsafeBufferPointer<UInt8>
  ) -> Kind? {
    kinds.first { kind in
      kind.name.withUnsafeBufferPointer { name.isEqual(to: $0) }
        && kind.line.withUnsafeBufferPointer { line.isEqual(to: $0) }
    }?.kind
  }

  /// Writes the fields of an event or a note; returns its kind, and the version of the fields.
  private mutating func facts(_ kind: Kind) throws(ImportProblem) -> (kind: UInt8, version: UInt8) {
    switch kind {
    case .event(let kind): (kind.rawValue, try SessionEvent(kind, from: &self).version)
    case .note(let kind): (kind.rawValue, try SessionNote(kind, from: &self).version)
    }
  }
}

extension ExactLines: FieldPass {
  mutating func code<Code: OpenEnum>(
    _ name: FieldName, _: Code
  ) throws(ImportProblem) -> Code {
    let code: Code = try members.code(name.member)
    payload.write(code.rawValue)
    return code
  }

  mutating func reason<Code: OpenEnum>(
    _ name: FieldName, _ reason: Code
  ) throws(ImportProblem) -> Code { try code(name, reason) }

  mutating func meaning(
    _ name: FieldName, _: ErrorMeaning?
  ) throws(ImportProblem) -> ErrorMeaning? {
    let meaning = try members.meaning(name.member)
    if let meaning { payload.write(meaning.rawValue) }
    return meaning
  }

  mutating func number<Number: FixedWidthInteger>(
    _ name: FieldName, _: Number
  ) throws(ImportProblem) -> Number {
    let number: Number = try members.number(name.member)
    payload.write(number)
    return number
  }

  mutating func sequence(
    _ name: FieldName, _ sequence: UInt64
  ) throws(ImportProblem) -> UInt64 { try number(name, sequence) }

  mutating func flag(_ name: FieldName, _: Bool) throws(ImportProblem) -> Bool {
    let flag = try members.flag(name.member)
    payload.write(flag)
    return flag
  }

  mutating func time(_ name: FieldName, _: Timestamp) throws(ImportProblem) -> Timestamp {
    let time = try members.time(name.member)
    payload.write(time)
    return time
  }

  mutating func time(
    _ name: FieldName, _: Timestamp?
  ) throws(ImportProblem) -> Timestamp? {
    try optional(name.member) { (line, key) throws(ImportProblem) in
      line.payload.write(try line.members.time(key))
    }
    return nil
  }

  mutating func generation(
    _ name: FieldName, _ generation: Generation
  ) throws(ImportProblem) -> Generation {
    payload.write(try members.generation(name.member))
    return generation
  }

  mutating func identifier(
    _ name: FieldName, _: IdentifierKind, _ identifier: Identifier
  ) throws(ImportProblem) -> Identifier {
    payload.write(identifier: try members.spelling(name.member))
    return identifier
  }

  mutating func identifier(
    _ name: FieldName, _: IdentifierKind, _: Identifier?
  ) throws(ImportProblem) -> Identifier? {
    try optionalIdentifier(name.member)
    return nil
  }

  mutating func version(
    _ name: FieldName, _: AppVersion?
  ) throws(ImportProblem) -> AppVersion? {
    let app = try members.version(name.member)
    // Before an identity, an absent version is an empty text.
    if app != nil || members.has("identity") { payload.write(app?.description ?? "") }
    return app
  }

  mutating func token(
    _ name: FieldName, _ token: TokenMetadata
  ) throws(ImportProblem) -> TokenMetadata {
    try self.token(name.member)
    return token
  }

  mutating func token(
    _ name: FieldName, _: TokenMetadata?
  ) throws(ImportProblem) -> TokenMetadata? {
    try optional(name.member) { (line, key) throws(ImportProblem) in try line.token(key) }
    return nil
  }

  mutating func context(
    _ name: FieldName, _ context: ActiveContext
  ) throws(ImportProblem) -> ActiveContext {
    try self.context(name.member)
    return context
  }

  mutating func context(
    _ name: FieldName, _: ActiveContext?
  ) throws(ImportProblem) -> ActiveContext? {
    try optional(name.member) { (line, key) throws(ImportProblem) in try line.context(key) }
    return nil
  }

  mutating func failure(
    _ name: FieldName, _ failure: RequestFailure
  ) throws(ImportProblem) -> RequestFailure {
    payload.write(try members.failure(name.member))
    return failure
  }

  mutating func identity(
    _ name: FieldName, _: ProcessIdentity?
  ) throws(ImportProblem) -> ProcessIdentity? {
    guard let identity = try members.identity() else { return nil }
    payload.write(identity)
    hasIdentity = true
    return identity
  }

  mutating func platform(
    _ name: FieldName, _: Platform?
  ) throws(ImportProblem) -> Platform? {
    guard members.has(name.member) else { return nil }
    // A journal cannot hold the one without the other.
    guard hasIdentity else { throw members.problem(name.member, "needs an identity") }
    return try code(name, .unknown)
  }
}

extension ExactLines {
  /// Writes whether there is a value, and what `write` writes for it.
  private mutating func optional(
    _ key: StaticString, _ write: (inout ExactLines, StaticString) throws(ImportProblem) -> Void
  ) throws(ImportProblem) {
    let isAbsent = members.takeNull(key)
    payload.write(!isAbsent)
    if !isAbsent { try write(&self, key) }
  }

  private mutating func optionalIdentifier(_ key: StaticString) throws(ImportProblem) {
    if members.takeNull(key) {
      payload.write(Identifier?.none)
    } else {
      payload.write(identifier: try members.spelling(key))
    }
  }

  private mutating func token(_ key: StaticString) throws(ImportProblem) {
    try members.open(key)
    payload.write(try members.generation("generation"))
    payload.write(try members.time("issuedAt"))
    payload.write(try members.time("expiresAt"))
    try optionalIdentifier("id")
    payload.write(try members.flag("isRefreshable"))
    try members.close()
  }

  private mutating func context(_ key: StaticString) throws(ImportProblem) {
    try members.open(key)
    try named("role")
    try optional("school") { (line, key) throws(ImportProblem) in try line.named(key) }
    try optional("unit") { (line, key) throws(ImportProblem) in try line.named(key) }
    try permissions()
    try members.close()
  }

  private mutating func named(_ key: StaticString) throws(ImportProblem) {
    try members.open(key)
    payload.write(identifier: try members.spelling("id"))
    payload.write(text: try members.spelling("name"))
    try members.close()
  }

  private mutating func permissions() throws(ImportProblem) {
    try members.openList("permissions")
    let (offset, none) = (payload.count, UInt32(0))
    var (count, last) = (none, UnsafeBufferPointer<UInt8>?.none)
    payload.write(none)
    while try members.hasElement() {
      let text = try members.spelling()
      // A journal holds them in order only.
      if let last, !ActiveContext.isInOrder(last, before: text) {
        throw members.problem("permissions", "are not in order")
      }
      payload.write(text: text)
      (count, last) = (count + 1, text)
    }
    payload.replace(count, at: offset)
  }
}
