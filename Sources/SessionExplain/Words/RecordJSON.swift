@_spi(Internals) package import SessionCore
package import SessionJSON

extension JSONWriter {
  /// Writes the readable form of `Specs/EventCodec.md`: name, time and facts.
  package mutating func readable(_ record: SessionRecord) {
    field("name", record.name)
    field("time", record.time)
    object("facts") { $0.facts(record.content) }
  }

  // A function of its own: a switch over `record.content` copies the record (Swift 6.3), and one over
  // a parameter does not.
  private mutating func facts(_ content: SessionRecord.Content) {
    switch content {
    case .event(let event): facts { event.visit(&$0) }
    case .note(let note): facts { note.visit(&$0) }
    case .snapshot(let fold): facts(fold)
    case .unknown(let unknown):
      field("payload", unknown.payload.hexadecimal)
      field("isIgnorable", unknown.isIgnorable)
    }
  }

  /// Writes the fields that `visit` shows.
  @inline(__always)
  private mutating func facts(_ visit: (inout JSONFields) -> Void) {
    var fields = JSONFields()
    fields.exchange(with: &self)
    visit(&fields)
    fields.exchange(with: &self)
  }

  private mutating func facts(_ fold: SessionFold) {
    field("sequence", fold.sequence)
    field("eventSequence", fold.eventSequence)
    for field in StateDescription(fold).snapshotFields { self.field(field) }
  }

  /// Writes the identity of the process that opened the journal; nothing if the record has none.
  fileprivate mutating func identity(_ identity: ProcessIdentity?) {
    guard let identity else { return }
    object("identity") { json in
      json.field("opening", identity.opening)
      json.field("boot", identity.boot)
      json.field("namespace", identity.namespace)
      json.field("start", identity.start)
      json.field("lock", identity.lock)
    }
  }

  fileprivate mutating func token(_ name: StaticString, _ token: TokenMetadata?) {
    guard let token else { return null(name) }
    object(name) { json in
      json.field("generation", token.generation.number)
      json.field("issuedAt", token.issuedAt)
      json.field("expiresAt", token.expiresAt)
      json.field("id", token.id)
      json.field("isRefreshable", token.isRefreshable)
    }
  }

  fileprivate mutating func context(_ name: StaticString, _ context: ActiveContext?) {
    guard let context else { return null(name) }
    object(name) { json in
      json.named("role", context.role)
      json.named("school", context.school)
      json.named("unit", context.unit)
      json.array("permissions", context.permissions) { $0.value($1) }
    }
  }

  fileprivate mutating func failure(_ name: StaticString, _ failure: RequestFailure?) {
    guard let failure else { return null(name) }
    object(name) { json in
      json.field("kind", failure.kind.description)
      json.field("status", failure.status)
      json.field("serverCode", failure.serverCode)
      json.field("retryAfter", failure.retryAfterMilliseconds)
    }
  }

  private mutating func named(_ name: StaticString, _ named: ActiveContext.Named?) {
    guard let named else { return null(name) }
    object(name) { json in
      json.field("id", named.id)
      json.field("name", named.name)
    }
  }
}

/// A visitor that writes each field as a member with the field's name.
///
/// It holds the writer while it visits, since a type that other modules inline cannot itself be a
/// visitor.
private struct JSONFields: FieldVisitor {
  private var json = JSONWriter()

  /// Exchanges the writers, so that the memory of neither is copied.
  mutating func exchange(with writer: inout JSONWriter) { swap(&json, &writer) }

  mutating func visit(_ name: FieldName, code: some OpenEnum) { json.field(name.member, code.word) }
  mutating func visit(_ name: FieldName, reason: some OpenEnum) {
    json.field(name.member, reason.word)
  }

  mutating func visit(_ name: FieldName, meaning: ErrorMeaning?) {
    if let meaning { json.field(name.member, meaning.word) }
  }

  mutating func visit(_ name: FieldName, number: some FixedWidthInteger) {
    json.field(name.member, number)
  }

  mutating func visit(_ name: FieldName, sequence: UInt64) { json.field(name.member, sequence) }
  mutating func visit(_ name: FieldName, flag: Bool) { json.field(name.member, flag) }
  mutating func visit(_ name: FieldName, time: Timestamp?) { json.field(name.member, time) }

  mutating func visit(_ name: FieldName, generation: Generation) {
    json.field(name.member, generation.number)
  }

  mutating func visit(_ name: FieldName, _: IdentifierKind, identifier: Identifier?) {
    json.field(name.member, identifier)
  }

  mutating func visit(_ name: FieldName, version: AppVersion?) {
    json.field(name.member, version?.description)
  }

  mutating func visit(_ name: FieldName, token: TokenMetadata?) { json.token(name.member, token) }

  mutating func visit(_ name: FieldName, context: ActiveContext?) {
    json.context(name.member, context)
  }

  mutating func visit(_ name: FieldName, failure: RequestFailure) {
    json.failure(name.member, failure)
  }

  mutating func visit(_ name: FieldName, identity: ProcessIdentity?) { json.identity(identity) }
  mutating func visit(_ name: FieldName, platform: Platform?) {
    if let platform { json.field(name.member, platform.word) }
  }
  mutating func visit(_ name: FieldName, demand: AuthenticationDemand?) {
    if let demand { json.field(name.member, demand.description) }
  }
  mutating func visit(_ name: FieldName, policy: RecordedPolicy?) {
    if let policy { json.field(name.member, policy.description) }
  }
}

extension Sequence<UInt8> {
  /// The bytes as pairs of hexadecimal digits.
  package var hexadecimal: String {
    var text = ""
    for byte in self { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return text
  }
}
