@_spi(Internals) internal import SessionCore
internal import SessionJSON

/// The members of a line that is spelled exactly as `export` spells it.
///
/// The keys have the order of an export. There is no space between values, and no text has an escape
/// or a byte beyond ASCII. Each byte is compared or read once, in its order, so that no member can be
/// there twice, be missing, or be left over.
///
/// Another line may be good too. Its members are those of an ``ImportObject``, which also says what is
/// wrong with a line.
struct ExactMembers: ImportMembers {
  private static let isOtherwise = ImportProblem(.badLine, "an export does not spell it so")

  /// The bytes of the line; valid as long as the members are read.
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The place of the next byte.
  private var place = 0
  /// Whether the next member is the first one of its object.
  private var isFirst = true

  /// The members of no line.
  static var none: ExactMembers { ExactMembers(UnsafeBufferPointer(start: nil, count: 0)) }

  init(_ line: UnsafeBufferPointer<UInt8>) { bytes = line }

  /// Whether all bytes were read.
  var isAtEnd: Bool { place == bytes.count }

  mutating func has(_ key: StaticString) -> Bool { value(of: key) != nil }

  mutating func optional<Value>(
    _ key: StaticString, _ read: (inout ExactMembers, StaticString) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value? {
    takeNull(key) ? nil : try read(&self, key)
  }

  /// Moves past the next member if it has this key and is `null`; returns whether it is.
  mutating func takeNull(_ key: StaticString) -> Bool {
    guard let value = value(of: key), starts(with: "null", at: value) else { return false }
    (place, isFirst) = (value + 4, false)
    return true
  }

  mutating func object<Value>(
    _ key: StaticString, _ read: (inout ExactMembers) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value {
    try open(key)
    let value = try read(&self)
    try close()
    return value
  }

  /// Moves to the first member of the object with this key.
  mutating func open(_ key: StaticString) throws(ImportProblem) {
    try moveToValue(of: key)
    try open()
  }

  /// Moves to the first member of an object.
  mutating func open() throws(ImportProblem) {
    guard take("{") else { throw Self.isOtherwise }
    isFirst = true
  }

  /// Moves past the object whose members were read.
  mutating func close() throws(ImportProblem) {
    guard take("}") else { throw Self.isOtherwise }
    isFirst = false
  }

  /// Moves to the first element of the list with this key.
  mutating func openList(_ key: StaticString) throws(ImportProblem) {
    try moveToValue(of: key)
    guard take("[") else { throw Self.isOtherwise }
    isFirst = true
  }

  /// Returns whether the list has one more element, and moves to it or past the list.
  mutating func hasElement() throws(ImportProblem) -> Bool {
    let isLast = take("]")
    guard isLast || isFirst || take(",") else { throw Self.isOtherwise }
    isFirst = false
    return !isLast
  }

  mutating func text(_ key: StaticString) throws(ImportProblem) -> String {
    String(decoding: try spelling(key), as: UTF8.self)
  }

  /// Returns the bytes of a text; valid as long as the line's own are.
  mutating func spelling(_ key: StaticString) throws(ImportProblem) -> UnsafeBufferPointer<UInt8> {
    try moveToValue(of: key)
    return try spelling()
  }

  mutating func identifier(_ key: StaticString) throws(ImportProblem) -> Identifier {
    Identifier(utf8: try spelling(key))
  }

  mutating func flag(_ key: StaticString) throws(ImportProblem) -> Bool {
    try moveToValue(of: key)
    if starts(with: "true", at: place) {
      place += 4
      return true
    }
    guard starts(with: "false", at: place) else { throw Self.isOtherwise }
    place += 5
    return false
  }

  mutating func number<Value: FixedWidthInteger>(_ key: StaticString) throws(ImportProblem) -> Value
  {
    try moveToValue(of: key)
    return try number()
  }

  mutating func time(_ key: StaticString) throws(ImportProblem) -> Timestamp {
    guard let time = Timestamp(printed: try spelling(key)) else { throw Self.isOtherwise }
    return time
  }

  func problem(_ key: StaticString, _ message: @autoclosure () -> String, next: String?)
    -> ImportProblem
  {
    Self.isOtherwise
  }

  // MARK: Bytes

  /// Moves to the value of the next member, which must have this key.
  @inline(__always)
  private mutating func moveToValue(of key: StaticString) throws(ImportProblem) {
    guard let value = value(of: key) else { throw Self.isOtherwise }
    (place, isFirst) = (value, false)
  }

  /// Returns the place of the next member's value; `nil` if the member has another key.
  private func value(of key: StaticString) -> Int? {
    let start = place + (isFirst ? 1 : 2)
    let end = start + key.utf8CodeUnitCount
    guard end + 2 <= bytes.count, isFirst || bytes[place] == UInt8(ascii: ","),
      bytes[start - 1] == UInt8(ascii: "\""), hasBytes(of: key, at: start),
      bytes[end] == UInt8(ascii: "\""), bytes[end + 1] == UInt8(ascii: ":")
    else { return nil }
    return end + 2
  }

  private func starts(with word: StaticString, at place: Int) -> Bool {
    place + word.utf8CodeUnitCount <= bytes.count && hasBytes(of: word, at: place)
  }

  /// Whether the bytes at a place, which must be there, are those of the text.
  @inline(__always)
  private func hasBytes(of text: StaticString, at place: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    return UnsafeBufferPointer(rebasing: bytes[place..<place + count])
      .isEqual(to: UnsafeBufferPointer(start: text.utf8Start, count: count))
  }

  @inline(__always)
  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard place < bytes.count, bytes[place] == UInt8(ascii: byte) else { return false }
    place += 1
    return true
  }

  /// Returns the bytes of a text, and moves past it.
  mutating func spelling() throws(ImportProblem) -> UnsafeBufferPointer<UInt8> {
    guard take("\"") else { throw Self.isOtherwise }
    let run = bytes.plainRun(from: place)
    guard run.isASCII else { throw Self.isOtherwise }
    let text = UnsafeBufferPointer(rebasing: bytes[place..<run.end])
    place = run.end
    guard take("\"") else { throw Self.isOtherwise }
    return text
  }

  private mutating func number<Value: FixedWidthInteger>() throws(ImportProblem) -> Value {
    let isNegative = take("-")
    let start = place
    var magnitude: UInt64 = 0
    while place < bytes.count, (0x30...0x39).contains(bytes[place]) {
      let (tenfold, isTooLong) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, isOver) = tenfold.addingReportingOverflow(UInt64(bytes[place] &- 0x30))
      guard !isTooLong, !isOver else { throw Self.isOtherwise }
      magnitude = sum
      place += 1
    }
    // Without digits, with a zero before them, or -0 it is no number of an export.
    guard place > start, bytes[start] != 0x30 || (place == start + 1 && !isNegative) else {
      throw Self.isOtherwise
    }
    let number = isNegative ? -Int128(magnitude) : Int128(magnitude)
    guard let value = Value(exactly: number) else { throw Self.isOtherwise }
    return value
  }
}
