/// A writer of JSON (RFC 8259) as UTF-8, in the order of the calls.
///
/// A member's name is a literal that needs no escapes, unless its function takes any name.
///
/// A writer that is used again allocates nothing. It keeps its memory and the text of the last day.
/// Members that take a closure or any integer are inlinable, since other modules call them for each
/// record of a journal.
// Without @usableFromInline on the type, Swift 6.3 inlines none of its package members in other modules.
@usableFromInline
package struct JSONWriter: Sendable {
  /// Memory for the text, of which the first `count` bytes are written.
  private var memory: [UInt8] = []
  private var count = 0
  private var needsComma = false
  private var lastDay: Int64?
  private var lastDayText: [UInt8] = []

  package init() {}

  package var bytes: ArraySlice<UInt8> { memory[..<count] }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Discards the content and keeps the memory.
  package mutating func removeAll() {
    count = 0
    needsComma = false
  }

  /// Ends a line of JSON Lines.
  package mutating func endLine() {
    append(UInt8(ascii: "\n"))
    needsComma = false
  }

  @inlinable
  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    open(UInt8(ascii: "{"))
    body(&self)
    close(UInt8(ascii: "}"))
  }

  @inlinable
  package mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    open(name, UInt8(ascii: "{"))
    body(&self)
    close(UInt8(ascii: "}"))
  }

  @inlinable
  package mutating func array<Element>(
    _ name: StaticString, _ elements: some Sequence<Element>,
    _ writeElement: (inout JSONWriter, Element) -> Void
  ) {
    open(name, UInt8(ascii: "["))
    for element in elements { writeElement(&self, element) }
    close(UInt8(ascii: "]"))
  }

  @inlinable
  package mutating func array<Element>(
    _ elements: some Sequence<Element>, _ writeElement: (inout JSONWriter, Element) -> Void
  ) {
    open(UInt8(ascii: "["))
    for element in elements { writeElement(&self, element) }
    close(UInt8(ascii: "]"))
  }

  /// Writes a member with any name, whose value `writeValue` writes.
  @inlinable
  package mutating func member(named name: String, _ writeValue: (inout JSONWriter) -> Void) {
    anyKey(name)
    writeValue(&self)
  }

  /// Writes a member whose value `writeValue` writes.
  @inlinable
  package mutating func member(_ name: StaticString, _ writeValue: (inout JSONWriter) -> Void) {
    key(name)
    writeValue(&self)
  }

  package mutating func field(_ name: StaticString, _ value: String?) {
    guard let value else { return null(name) }
    let isPlain = value.withBytes { utf8 in
      guard Self.isPlain(utf8) else { return false }
      member(name, upTo: utf8.count + 2) { $0.put(quoted: utf8) }
      return true
    }
    guard !isPlain else { return }
    key(name)
    escape(value)
  }

  package mutating func field(_ name: StaticString, _ value: Bool) {
    let word: StaticString = value ? "true" : "false"
    member(name, upTo: 5) { $0.put(word) }
  }

  @inlinable
  package mutating func field(_ name: StaticString, _ value: (some FixedWidthInteger)?) {
    if let value {
      number(name, UInt64(clamping: value.magnitude), isNegative: value < 0)
    } else {
      null(name)
    }
  }

  /// Writes a text of `count` bytes through `write`: ASCII that needs no escapes.
  package mutating func field(
    _ name: StaticString, plainCount count: Int,
    _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void
  ) {
    member(name, upTo: count + 2) { place in
      let start = place.put(UInt8(ascii: "\""))
      write(UnsafeMutableBufferPointer(start: start, count: count))
      return (start + count).put(UInt8(ascii: "\""))
    }
  }

  /// Writes a time in milliseconds since 1970, in UTC as in RFC 3339: `2026-11-21T14:00:05.205Z`.
  ///
  /// `date` returns the date of that day: `2026-11-21`. It is called only if the day differs from
  /// that of the last time.
  package mutating func field(_ name: StaticString, milliseconds: Int64, date: () -> String) {
    let length: Int64 = 86_400_000
    let rest = milliseconds % length
    let inDay = rest < 0 ? rest + length : rest
    let day = milliseconds / length - (rest < 0 ? 1 : 0)
    if day != lastDay {
      lastDay = day
      lastDayText = Array("\(date())T".utf8)
    }
    let dayText = lastDayText
    member(name, upTo: dayText.count + 15) { place in
      let time = dayText.withUnsafeBufferPointer { place.put(UInt8(ascii: "\"")).put($0) }
      return time.put(timeOfDay: UInt32(truncatingIfNeeded: inDay)).put(UInt8(ascii: "\""))
    }
  }

  @usableFromInline
  package mutating func null(_ name: StaticString) {
    member(name, upTo: 4) { $0.put("null") }
  }

  @inlinable
  package mutating func value(_ value: some FixedWidthInteger) {
    number(UInt64(clamping: value.magnitude), isNegative: value < 0)
  }

  package mutating func value(_ value: String) {
    separate()
    let isPlain = value.withBytes { utf8 in
      guard Self.isPlain(utf8) else { return false }
      append(upTo: utf8.count + 2) { $0.put(quoted: utf8) }
      return true
    }
    guard !isPlain else {
      needsComma = true
      return
    }
    escape(value)
  }

  /// Writes a value with the members of its objects sorted by name; `null` if it is unreadable.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null, .unreadable: bare("null")
    case .bool(let flag): bare(flag ? "true" : "false")
    case .number(let number): bare(number.text)
    case .string(let text): self.value(text)
    case .array(let values):
      open(UInt8(ascii: "["))
      for element in values { self.value(element) }
      close(UInt8(ascii: "]"))
    case .object(let members): object(members) { $0.value($1) }
    }
  }

  /// Writes an object of any names, sorted by name, whose values `writeValue` writes.
  @inlinable
  package mutating func object<Value>(
    _ members: [String: Value], _ writeValue: (inout JSONWriter, Value) -> Void
  ) {
    open(UInt8(ascii: "{"))
    for (name, member) in members.sorted(by: { $0.key < $1.key }) {
      anyKey(name)
      writeValue(&self, member)
    }
    close(UInt8(ascii: "}"))
  }

  private mutating func bare(_ word: String) {
    separate()
    append(word: word)
    needsComma = true
  }

  @usableFromInline
  mutating func number(_ magnitude: UInt64, isNegative: Bool) {
    separate()
    append(upTo: 21) { $0.put(magnitude, isNegative: isNegative) }
    needsComma = true
  }

  @usableFromInline
  mutating func number(_ name: StaticString, _ magnitude: UInt64, isNegative: Bool) {
    member(name, upTo: 21) { $0.put(magnitude, isNegative: isNegative) }
  }

  @usableFromInline
  mutating func open(_ bracket: UInt8) {
    separate()
    append(bracket)
    needsComma = false
  }

  @usableFromInline
  mutating func open(_ name: StaticString, _ bracket: UInt8) {
    member(name, upTo: 1) { $0.put(bracket) }
    needsComma = false
  }

  @usableFromInline
  mutating func close(_ bracket: UInt8) {
    append(bracket)
    needsComma = true
  }

  /// Writes a name, which must need no escapes.
  @usableFromInline
  mutating func key(_ name: StaticString) {
    member(name, upTo: 0) { $0 }
    needsComma = false
  }

  /// Writes any name.
  @usableFromInline
  mutating func anyKey(_ name: String) {
    value(name)
    append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a name, which must need no escapes, and the value that `body` puts after it.
  @inline(__always)
  private mutating func member(
    _ name: StaticString, upTo most: Int,
    _ body: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
  ) {
    let hasComma = needsComma
    append(upTo: name.utf8CodeUnitCount + most + 4) { place in
      let start = hasComma ? place.put(UInt8(ascii: ",")) : place
      return body(start.put(quoted: name.bytes).put(UInt8(ascii: ":")))
    }
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { append(UInt8(ascii: ",")) }
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    append(upTo: 1) { $0.put(byte) }
  }

  /// Appends what `body` puts at a place, at most `most` bytes; it returns the place after them.
  @inline(__always)
  private mutating func append(
    upTo most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
  ) {
    let start = count
    if memory.count - start < most { grow(by: most) }
    count = memory.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return start }
      return body(base + start) - base
    }
  }

  /// The memory of a writer that has written something.
  private static let firstMemory = [UInt8](repeating: 0, count: 512)

  /// Doubles the memory by copying it; a debug build would make a call for each zero.
  @inline(never)
  private mutating func grow(by most: Int) {
    if memory.isEmpty { memory = Self.firstMemory }
    while memory.count - count < most { memory += memory }
  }

  /// Writes a text with a character that needs an escape.
  private mutating func escape(_ value: String) {
    append(UInt8(ascii: "\""))
    for scalar in value.unicodeScalars { escape(scalar) }
    append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Whether no byte needs an escape.
  ///
  /// Most texts are ASCII without such a byte, which is seen eight bytes at a time. Others are checked
  /// byte by byte.
  @inline(__always)
  private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    let bytes = UnsafeRawBufferPointer(utf8)
    guard bytes.count >= 8 else {
      return marks(EightBytes.load(short: bytes)) == 0 || isPlainBytewise(utf8)
    }
    var found = marks(EightBytes.load(bytes, at: bytes.count - 8))
    var place = 0
    while place < bytes.count - 8 {
      found |= marks(EightBytes.load(bytes, at: place))
      place += 8
    }
    return found == 0 || isPlainBytewise(utf8)
  }

  /// Returns 0 if each of the eight bytes is ASCII and needs no escape.
  @inline(__always)
  private static func marks(_ word: UInt64) -> UInt64 {
    (word | EightBytes.stops(word) | EightBytes.mark(0x7F, in: word)) & EightBytes.highest
  }

  /// Whether no byte needs an escape.
  ///
  /// The bytes 0xC2, 0xD8 and 0xE2 begin all escaped scalars beyond ASCII; a text with one of them
  /// is checked by scalar.
  private static func isPlainBytewise(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    var found: UInt8 = 0
    for byte in utf8 {
      found |= byte < 0x20 ? 1 : 0
      found |= byte == 0x22 ? 1 : 0
      found |= byte == 0x5C ? 1 : 0
      found |= byte == 0x7F ? 1 : 0
      found |= byte == 0xC2 ? 1 : 0
      found |= byte == 0xD8 ? 1 : 0
      found |= byte == 0xE2 ? 1 : 0
    }
    return found == 0
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": append(word: "\\\"")
    case "\\": append(word: "\\\\")
    case "\n": append(word: "\\n")
    case "\r": append(word: "\\r")
    case "\t": append(word: "\\t")
    // More than JSON requires: some readers split lines at U+2028, and terminals obey the others.
    case _ where scalar.isUnprintable:
      let digits = String(scalar.value, radix: 16)
      append(word: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)")
    default: append(word: String(scalar))
    }
  }

  private mutating func append(word: String) {
    word.withBytes { utf8 in append(upTo: utf8.count) { $0.put(utf8) } }
  }
}

extension StaticString {
  /// The bytes of the text.
  @inline(__always)
  var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
  }
}

extension String {
  /// Lends the bytes of the text; the text is not copied for it.
  @inline(__always)
  fileprivate func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
    if let value = utf8.withContiguousStorageIfAvailable(body) { return value }
    // A bridged `NSString`.
    var text = self
    return text.withUTF8(body)
  }
}

extension Unicode.Scalar {
  /// Whether it could move a cursor, break a line, or change the direction of the text after it.
  package var isUnprintable: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
