/// A writer of JSON (RFC 8259) as UTF-8, in the order of the calls.
///
/// A writer that is used again allocates nothing. It keeps its memory and the text of the last day.
/// Members that take a closure or any integer are inlinable, since other modules call them for each
/// record of a journal.
// Without @usableFromInline on the type, Swift 6.3 inlines none of its package members in other modules.
@usableFromInline
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false
  private var lastDay: Int64?
  private var lastDayText: [UInt8] = []

  package init() {}

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Discards the content and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Ends a line of JSON Lines.
  package mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  @inlinable
  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    open(UInt8(ascii: "{"))
    body(&self)
    close(UInt8(ascii: "}"))
  }

  @inlinable
  package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    object(body)
  }

  @inlinable
  package mutating func array<Element>(
    _ name: String, _ elements: some Sequence<Element>,
    _ writeElement: (inout JSONWriter, Element) -> Void
  ) {
    key(name)
    open(UInt8(ascii: "["))
    for element in elements { writeElement(&self, element) }
    close(UInt8(ascii: "]"))
  }

  package mutating func field(_ name: String, _ value: String?) {
    key(name)
    if let value { self.value(value) } else { null() }
  }

  package mutating func field(_ name: String, _ value: Bool) {
    key(name)
    bare(value ? "true" : "false")
  }

  @inlinable
  package mutating func field(_ name: String, _ value: (some FixedWidthInteger)?) {
    key(name)
    if let value { self.value(value) } else { null() }
  }

  /// Writes a text of `count` bytes through `write`: ASCII that needs no escapes.
  package mutating func field(
    _ name: String, plainCount count: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void
  ) {
    key(name)
    bytes.append(UInt8(ascii: "\""))
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer in
      write(buffer)
      bytes.append(contentsOf: buffer)
    }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Writes a time in milliseconds since 1970, in UTC as in RFC 3339: `2026-11-21T14:00:05.205Z`.
  ///
  /// `date` returns the date of that day: `2026-11-21`. It is called only if the day differs from
  /// that of the last time.
  package mutating func field(_ name: String, milliseconds: Int64, date: () -> String) {
    key(name)
    bytes.append(UInt8(ascii: "\""))
    append(milliseconds, date)
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  package mutating func null(_ name: String) {
    key(name)
    null()
  }

  @inlinable
  package mutating func value(_ value: some FixedWidthInteger) {
    number(UInt64(clamping: value.magnitude), isNegative: value < 0)
  }

  package mutating func value(_ value: String) {
    separate()
    quote(value)
    needsComma = true
  }

  /// Writes a value with the members of its objects sorted by name; `null` if it is unreadable.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null, .unreadable: null()
    case .bool(let flag): bare(flag ? "true" : "false")
    case .number(let number): bare(number.text)
    case .string(let text): self.value(text)
    case .array(let values):
      open(UInt8(ascii: "["))
      for element in values { self.value(element) }
      close(UInt8(ascii: "]"))
    case .object(let members):
      open(UInt8(ascii: "{"))
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
        self.value(member)
      }
      close(UInt8(ascii: "}"))
    }
  }

  @usableFromInline
  mutating func number(_ magnitude: UInt64, isNegative: Bool) {
    separate()
    if isNegative { bytes.append(UInt8(ascii: "-")) }
    append(digits: magnitude)
    needsComma = true
  }

  @usableFromInline
  mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  @usableFromInline
  mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  @usableFromInline
  mutating func null() {
    bare("null")
  }

  private mutating func bare(_ word: String) {
    separate()
    bytes.append(contentsOf: word.utf8)
    needsComma = true
  }

  /// Writes a name, which must need no escapes.
  @usableFromInline
  mutating func key(_ name: String) {
    separate()
    var name = name
    name.withUTF8 { appendQuoted($0, then: UInt8(ascii: ":")) }
    needsComma = false
  }

  /// Appends a text that needs no escapes between quotation marks, and a byte after it.
  ///
  /// A short text is appended in one step: each append checks the array's owner and its room.
  @inline(__always)
  private mutating func appendQuoted(_ utf8: UnsafeBufferPointer<UInt8>, then last: UInt8?) {
    guard utf8.count <= 60 else {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: utf8)
      bytes.append(UInt8(ascii: "\""))
      if let last { bytes.append(last) }
      return
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
      buffer[0] = UInt8(ascii: "\"")
      var count = 1
      for byte in utf8 {
        buffer[count] = byte
        count += 1
      }
      buffer[count] = UInt8(ascii: "\"")
      count += 1
      if let last {
        buffer[count] = last
        count += 1
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  /// Appends the decimal digits.
  private mutating func append(digits number: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
      var (place, rest) = (20, number)
      repeat {
        place -= 1
        buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[place...]))
    }
  }

  private mutating func append(_ milliseconds: Int64, _ date: () -> String) {
    let length: Int64 = 86_400_000
    let rest = milliseconds % length
    let inDay = rest < 0 ? rest + length : rest
    let day = milliseconds / length - (rest < 0 ? 1 : 0)
    if day != lastDay {
      lastDay = day
      lastDayText = Array("\(date())T".utf8)
    }
    bytes.append(contentsOf: lastDayText)
    append(timeOfDay: Int(inDay))
  }

  /// Appends a time in milliseconds since midnight: `14:00:05.205Z`.
  private mutating func append(timeOfDay time: Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 13) { buffer in
      func digits(_ number: Int, at place: Int) {
        buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10)
        buffer[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
      }
      digits(time / 3_600_000, at: 0)
      buffer[2] = UInt8(ascii: ":")
      digits(time / 60_000 % 60, at: 3)
      buffer[5] = UInt8(ascii: ":")
      digits(time / 1000 % 60, at: 6)
      buffer[8] = UInt8(ascii: ".")
      digits(time % 1000 / 10, at: 9)
      buffer[11] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: time % 10)
      buffer[12] = UInt8(ascii: "Z")
      bytes.append(contentsOf: UnsafeBufferPointer(buffer))
    }
  }

  private mutating func quote(_ value: String) {
    var value = value
    let isPlain = value.withUTF8 { utf8 in
      guard Self.isPlain(utf8) else { return false }
      appendQuoted(utf8, then: nil)
      return true
    }
    guard !isPlain else { return }
    bytes.append(UInt8(ascii: "\""))
    for scalar in value.unicodeScalars { escape(scalar) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether no byte needs an escape.
  ///
  /// The bytes 0xC2, 0xD8 and 0xE2 begin all escaped scalars beyond ASCII; a text with one of them
  /// is checked by scalar. The loop has no early exit, so that the compiler can check many bytes at
  /// once.
  private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
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
    case "\"": bytes.append(contentsOf: "\\\"".utf8)
    case "\\": bytes.append(contentsOf: "\\\\".utf8)
    case "\n": bytes.append(contentsOf: "\\n".utf8)
    case "\r": bytes.append(contentsOf: "\\r".utf8)
    case "\t": bytes.append(contentsOf: "\\t".utf8)
    // More than JSON requires: some readers split lines at U+2028, and terminals obey the others.
    case _ where scalar.isUnprintable:
      let digits = String(scalar.value, radix: 16)
      bytes.append(
        contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    default: bytes.append(contentsOf: scalar.utf8)
    }
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
