@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("The fields of events and notes")
struct FieldPassTests {
  /// Each kind a hundred times, with random values.
  private var contents: [SessionRecord.Content] {
    (0..<100).flatMap { Choices(seed: $0).contentOfEachKind() }
  }

  @Test("a pass that changes nothing returns an equal event or note")
  func unchanged() {
    for content in contents {
      var fields = WrittenFields()
      switch content {
      case .event(let event): #expect(event.rebuilt(by: &fields) == event)
      case .note(let note): #expect(note.rebuilt(by: &fields) == note)
      case .snapshot, .unknown: break
      }
    }
  }

  @Test("an event or a note is created from its fields by their names, each name once")
  func byName() throws {
    for content in contents {
      var fields = WrittenFields()
      switch content {
      case .event(let event):
        event.visit(&fields)
        var reader = NamedFields(values: fields.values)
        #expect(try SessionEvent(event.kind, from: &reader) == event)
      case .note(let note):
        note.visit(&fields)
        var reader = NamedFields(values: fields.values)
        #expect(try SessionNote(note.kind, from: &reader) == note)
      case .snapshot, .unknown: break
      }
      #expect(fields.values.count == fields.names.count)
    }
  }

  @Test("RPL-9 each stored property of an event's or note's value is in its list of fields")
  func complete() {
    for kind in SessionEvent.Kind.allCases {
      let event = SessionEvent.blank(kind)
      check(.event(event), Mirror(reflecting: event).children.first?.value)
    }
    for kind in SessionNote.Kind.allCases {
      let note = SessionNote.blank(kind)
      check(.note(note), Mirror(reflecting: note).children.first?.value)
    }
  }

  private func check(_ content: SessionRecord.Content, _ value: Any?) {
    let type = value.map { String(reflecting: Swift.type(of: $0)) } ?? ""
    // A note of one value, such as a generation, has no struct of its own.
    guard let value, !(value is any OpenEnum),
      type.contains("SessionEvent.") || type.contains("SessionNote.")
    else { return }
    let properties = Mirror(reflecting: value).children.compactMap(\.label).map {
      // The effective meaning is computed; the field has the one from the configuration.
      $0 == "configuredMeaning" ? "meaning" : $0
    }
    #expect(properties.sorted() == WrittenFields(of: content).names.sorted(), "\(type)")
  }

  @Test("JRN-5 the bytes of an event or a note hold the values of its fields")
  func codec() throws {
    for content in contents {
      let encoded = SessionCodec.encode(content, at: .plainStart)
      let decoded = try SessionCodec.decode(
        sequence: 1, kind: encoded.kind, payload: encoded.payload)
      #expect(WrittenFields(of: decoded.content).text == WrittenFields(of: content).text)
    }
  }

  @Test("a blank event or note has its kind")
  func blank() {
    for kind in SessionEvent.Kind.allCases { #expect(SessionEvent.blank(kind).kind == kind) }
    for kind in SessionNote.Kind.allCases { #expect(SessionNote.blank(kind).kind == kind) }
  }
}

/// The fields of an event or a note, written down by name.
private struct WrittenFields: FieldVisitor {
  private(set) var names: [String] = []
  private(set) var values: [String: any Sendable] = [:]
  /// The names and values in their order.
  private(set) var text = ""

  init() {}

  init(of content: SessionRecord.Content) {
    switch content {
    case .event(let event): event.visit(&self)
    case .note(let note): note.visit(&self)
    case .snapshot, .unknown: break
    }
  }

  private mutating func write(_ name: FieldName, _ value: any Sendable) {
    names.append(name.member.description)
    values[name.member.description] = value
    text += "\(name.member): \(value)\n"
  }

  mutating func visit(_ name: FieldName, code: some OpenEnum) { write(name, code.rawValue) }
  mutating func visit(_ name: FieldName, reason: some OpenEnum) { write(name, reason.rawValue) }
  mutating func visit(_ name: FieldName, meaning: ErrorMeaning?) { write(name, meaning) }
  mutating func visit(_ name: FieldName, number: some FixedWidthInteger) {
    write(name, Int128(number))
  }
  mutating func visit(_ name: FieldName, sequence: UInt64) { write(name, sequence) }
  mutating func visit(_ name: FieldName, flag: Bool) { write(name, flag) }
  mutating func visit(_ name: FieldName, time: Timestamp?) { write(name, time) }
  mutating func visit(_ name: FieldName, generation: Generation) { write(name, generation) }
  mutating func visit(_ name: FieldName, _: IdentifierKind, identifier: Identifier?) {
    write(name, identifier)
  }
  mutating func visit(_ name: FieldName, version: AppVersion?) { write(name, version) }
  mutating func visit(_ name: FieldName, token: TokenMetadata?) { write(name, token) }
  mutating func visit(_ name: FieldName, context: ActiveContext?) { write(name, context) }
  mutating func visit(_ name: FieldName, failure: RequestFailure) { write(name, failure) }
  mutating func visit(_ name: FieldName, identity: ProcessIdentity?) { write(name, identity) }
  mutating func visit(_ name: FieldName, platform: Platform?) { write(name, platform) }
  mutating func visit(_ name: FieldName, policy: RecordedPolicy?) { write(name, policy) }
  mutating func visit(_ name: FieldName, demand: AuthenticationDemand?) { write(name, demand) }
}

/// Reads fields by name; the given values are ignored.
private struct NamedFields: FieldPass {
  /// A field that is missing, or has another type.
  struct Missing: Error { let name: String }

  let values: [String: any Sendable]

  private func read<Value>(_ name: FieldName) throws(Missing) -> Value {
    guard let value = values[name.member.description] as? Value else {
      throw Missing(name: name.member.description)
    }
    return value
  }

  private func present<Value>(_ name: FieldName) throws(Missing) -> Value {
    let value: Value? = try read(name)
    guard let value else { throw Missing(name: name.member.description) }
    return value
  }

  func code<Code: OpenEnum>(_ name: FieldName, _: Code) throws(Missing) -> Code {
    Code(rawValue: try read(name))
  }
  func reason<Code: OpenEnum>(_ name: FieldName, _: Code) throws(Missing) -> Code {
    Code(rawValue: try read(name))
  }
  func meaning(_ name: FieldName, _: ErrorMeaning?) throws(Missing) -> ErrorMeaning? {
    try read(name)
  }
  func number<Number: FixedWidthInteger>(_ name: FieldName, _: Number) throws(Missing) -> Number {
    let number: Int128 = try read(name)
    return Number(truncatingIfNeeded: number)
  }
  func sequence(_ name: FieldName, _: UInt64) throws(Missing) -> UInt64 { try read(name) }
  func flag(_ name: FieldName, _: Bool) throws(Missing) -> Bool { try read(name) }
  func time(_ name: FieldName, _: Timestamp) throws(Missing) -> Timestamp { try present(name) }
  func time(_ name: FieldName, _: Timestamp?) throws(Missing) -> Timestamp? { try read(name) }
  func generation(_ name: FieldName, _: Generation) throws(Missing) -> Generation { try read(name) }
  func identifier(_ name: FieldName, _: IdentifierKind, _: Identifier) throws(Missing) -> Identifier
  { try present(name) }
  func identifier(_ name: FieldName, _: IdentifierKind, _: Identifier?) throws(Missing)
    -> Identifier?
  { try read(name) }
  func version(_ name: FieldName, _: AppVersion?) throws(Missing) -> AppVersion? { try read(name) }
  func token(_ name: FieldName, _: TokenMetadata) throws(Missing) -> TokenMetadata {
    try present(name)
  }
  func token(_ name: FieldName, _: TokenMetadata?) throws(Missing) -> TokenMetadata? {
    try read(name)
  }
  func context(_ name: FieldName, _: ActiveContext) throws(Missing) -> ActiveContext {
    try present(name)
  }
  func context(_ name: FieldName, _: ActiveContext?) throws(Missing) -> ActiveContext? {
    try read(name)
  }
  func failure(_ name: FieldName, _: RequestFailure) throws(Missing) -> RequestFailure {
    try read(name)
  }
  func identity(_ name: FieldName, _: ProcessIdentity?) throws(Missing) -> ProcessIdentity? {
    try read(name)
  }
  func platform(_ name: FieldName, _: Platform?) throws(Missing) -> Platform? { try read(name) }
  func policy(_ name: FieldName, _: RecordedPolicy?) throws(Missing) -> RecordedPolicy? {
    try read(name)
  }
  func demand(_ name: FieldName, _: AuthenticationDemand?) throws(Missing)
    -> AuthenticationDemand?
  { try read(name) }
}
