@_spi(Internals) import SessionCore
import SessionTestKit

/// Random values of everything that a record may hold, extremes included.
extension SplitMix {
  mutating func chance(_ one: Int, in all: Int) -> Bool {
    Int.random(in: 0..<all, using: &self) < one
  }

  mutating func pick<Element>(_ elements: [Element], or fallback: Element) -> Element {
    elements.randomElement(using: &self) ?? fallback
  }

  mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) -> Value {
    switch UInt8.random(in: 0..<8, using: &self) {
    case 0: .min
    case 1: .max
    case 2, 3, 4: Value(truncatingIfNeeded: next() % 200)
    default: Value(truncatingIfNeeded: next())
    }
  }

  mutating func signed() -> Int64 {
    switch UInt8.random(in: 0..<8, using: &self) {
    case 0: .min
    case 1: .max
    case 2: 0
    case 3: -1
    default: Int64(bitPattern: next())
    }
  }

  mutating func timestamp() -> Timestamp { Timestamp(milliseconds: signed()) }
  mutating func generation() -> Generation { Generation(integer()) }
  mutating func code<Value: OpenEnum>(_: Value.Type = Value.self) -> Value {
    Value(rawValue: chance(4, in: 5) ? UInt8(next() % UInt64(Value.words.count)) : integer())
  }

  mutating func text() -> String {
    let letters: [Character] = ["a", "Z", "é", "e\u{301}", "日", "👩‍👩‍👧", "\0", "\n", "\"", "\\", "ß"]
    let length = Int.random(in: 0...12, using: &self)
    return String((0..<length).map { _ in pick(letters, or: "x") })
  }

  mutating func identifier() -> Identifier {
    chance(1, in: 2) ? Identifier(uuidHigh: next(), low: next()) : Identifier(text())
  }

  mutating func token() -> TokenMetadata {
    TokenMetadata(
      generation: generation(), issuedAt: timestamp(), expiresAt: timestamp(),
      id: chance(1, in: 2) ? identifier() : nil, isRefreshable: chance(1, in: 2))
  }

  mutating func named() -> ActiveContext.Named {
    ActiveContext.Named(id: identifier(), name: text())
  }

  mutating func context() -> ActiveContext {
    ActiveContext(
      role: named(), school: chance(1, in: 2) ? named() : nil,
      unit: chance(1, in: 2) ? named() : nil,
      permissions: (0..<Int.random(in: 0...5, using: &self)).map { _ in text() })
  }

  mutating func failure() -> RequestFailure {
    RequestFailure(
      kind: code(), status: integer(),
      serverCode: pick([nil, "TOKEN_EXPIRED", "invalid_grant", "E404", "not a code"], or: nil),
      retryAfter: chance(1, in: 2) ? .milliseconds(signed() as Int64) : nil)
  }

  mutating func event(_ kind: SessionEvent.Kind) -> SessionEvent {
    var fields = RandomFields(random: self)
    defer { self = fields.random }
    return SessionEvent(kind, from: &fields)
  }

  mutating func identity() -> ProcessIdentity {
    ProcessIdentity(
      opening: identifier(), boot: chance(1, in: 2) ? identifier() : nil,
      namespace: chance(1, in: 2) ? identifier() : nil, start: integer(),
      lock: chance(1, in: 2) ? identifier() : nil)
  }

  mutating func note(_ kind: SessionNote.Kind) -> SessionNote {
    var fields = RandomFields(random: self)
    defer { self = fields.random }
    return SessionNote(kind, from: &fields)
  }

  /// One content of each kind, and one of an unknown kind.
  mutating func contents() -> [SessionRecord.Content] {
    var contents: [SessionRecord.Content] = []
    for kind in SessionEvent.Kind.allCases { contents.append(.event(event(kind))) }
    for kind in SessionNote.Kind.allCases { contents.append(.note(note(kind))) }
    contents.append(.unknown(unknown()))
    return contents
  }

  mutating func unknown() -> SessionRecord.Unknown {
    var kind = integer(UInt8.self)
    while SessionEvent.Kind(rawValue: kind) != nil || SessionNote.Kind(rawValue: kind) != nil
      || kind == SessionRecord.snapshotKind
    {
      kind = UInt8(truncatingIfNeeded: next())
    }
    let count = Int.random(in: 0...40, using: &self)
    return SessionRecord.Unknown(kind: kind, payload: (0..<count).map { _ in integer() })
  }
}

/// Random values of each kind of field; the given values are ignored.
private struct RandomFields: FieldPass {
  var random: SplitMix

  mutating func code<Code: OpenEnum>(_: FieldName, _: Code) -> Code { random.code() }
  mutating func reason<Code: OpenEnum>(_: FieldName, _: Code) -> Code { random.code() }
  mutating func meaning(_: FieldName, _: ErrorMeaning?) -> ErrorMeaning? {
    random.chance(1, in: 4) ? random.code() : nil
  }
  mutating func number<Number: FixedWidthInteger>(_: FieldName, _: Number) -> Number {
    Number.isSigned ? Number(truncatingIfNeeded: random.signed()) : random.integer()
  }
  mutating func sequence(_: FieldName, _: UInt64) -> UInt64 { random.integer() }
  mutating func flag(_: FieldName, _: Bool) -> Bool { random.chance(1, in: 2) }
  mutating func time(_: FieldName, _: Timestamp) -> Timestamp { random.timestamp() }
  mutating func time(_: FieldName, _: Timestamp?) -> Timestamp? {
    random.chance(1, in: 2) ? random.timestamp() : nil
  }
  mutating func generation(_: FieldName, _: Generation) -> Generation { random.generation() }
  mutating func identifier(_: FieldName, _: IdentifierKind, _: Identifier) -> Identifier {
    random.identifier()
  }
  mutating func identifier(_: FieldName, _: IdentifierKind, _: Identifier?) -> Identifier? {
    random.chance(1, in: 2) ? random.identifier() : nil
  }
  mutating func version(_: FieldName, _: AppVersion?) -> AppVersion? {
    random.pick([nil, "2.4.1+318", "x"], or: nil).flatMap(AppVersion.init)
  }
  mutating func token(_: FieldName, _: TokenMetadata) -> TokenMetadata { random.token() }
  mutating func token(_: FieldName, _: TokenMetadata?) -> TokenMetadata? {
    random.chance(1, in: 2) ? random.token() : nil
  }
  mutating func context(_: FieldName, _: ActiveContext) -> ActiveContext { random.context() }
  mutating func context(_: FieldName, _: ActiveContext?) -> ActiveContext? {
    random.chance(1, in: 2) ? random.context() : nil
  }
  mutating func failure(_: FieldName, _: RequestFailure) -> RequestFailure { random.failure() }
  mutating func identity(_: FieldName, _: ProcessIdentity?) -> ProcessIdentity? {
    random.chance(1, in: 2) ? random.identity() : nil
  }
  mutating func platform(_: FieldName, _: Platform?) -> Platform? {
    random.chance(1, in: 2) ? random.code() : nil
  }
}
