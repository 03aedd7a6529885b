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

  init(_ line: UnsafeBufferPointer<UInt8>) { bytes = line }

  /// Returns what `read` returns for the object that the whole line is.
  mutating func whole<Value>(
    _ read: (inout ExactMembers) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value {
    let value = try members(read)
    guard place == bytes.count else { throw Self.isOtherwise }
    return value
  }

  mutating func has(_ key: StaticString) -> Bool { value(of: key) != nil }

  mutating func optional<Value>(
    _ key: StaticString, _ read: (inout ExactMembers, StaticString) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value? {
    guard let value = value(of: key), starts(with: "null", at: value) else {
      return try read(&self, key)
    }
    (place, isFirst) = (value + 4, false)
    return nil
  }

  mutating func object<Value>(
    _ key: StaticString, _ read: (inout ExactMembers) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value {
    try moveToValue(of: key)
    return try members(read)
  }

  mutating func texts(_ key: StaticString) throws(ImportProblem) -> [String] {
    try array(key) { (members) throws(ImportProblem) in try members.text() }
  }

  mutating func numbers<Value: FixedWidthInteger>(_ key: StaticString) throws(ImportProblem)
    -> [Value]
  {
    try array(key) { (members) throws(ImportProblem) in try members.number() }
  }

  mutating func text(_ key: StaticString) throws(ImportProblem) -> String {
    try moveToValue(of: key)
    return try text()
  }

  mutating func identifier(_ key: StaticString) throws(ImportProblem) -> Identifier {
    try moveToValue(of: key)
    return Identifier(utf8: try spelling())
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
    try moveToValue(of: key)
    guard let time = Timestamp(printed: try spelling()) else { throw Self.isOtherwise }
    return time
  }

  func problem(_ key: StaticString, _ message: @autoclosure () -> String, next: String?)
    -> ImportProblem
  {
    Self.isOtherwise
  }

  // MARK: Bytes

  /// Moves to the value of the next member, which must have this key.
  private mutating func moveToValue(of key: StaticString) throws(ImportProblem) {
    guard let value = value(of: key) else { throw Self.isOtherwise }
    (place, isFirst) = (value, false)
  }

  /// Returns the place of the next member's value; `nil` if the member has another key.
  private func value(of key: StaticString) -> Int? {
    let start = place + (isFirst ? 1 : 2)
    let end = start + key.utf8CodeUnitCount
    guard let line = bytes.baseAddress, end + 2 <= bytes.count,
      isFirst || line[place] == UInt8(ascii: ","), line[start - 1] == UInt8(ascii: "\""),
      isSame(line + start, key.utf8Start, key.utf8CodeUnitCount),
      line[end] == UInt8(ascii: "\""), line[end + 1] == UInt8(ascii: ":")
    else { return nil }
    return end + 2
  }

  private func starts(with word: StaticString, at place: Int) -> Bool {
    let count = word.utf8CodeUnitCount
    guard let line = bytes.baseAddress, place + count <= bytes.count else { return false }
    return isSame(line + place, word.utf8Start, count)
  }

  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard place < bytes.count, bytes[place] == UInt8(ascii: byte) else { return false }
    place += 1
    return true
  }

  private mutating func members<Value>(
    _ read: (inout ExactMembers) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value {
    guard take("{") else { throw Self.isOtherwise }
    isFirst = true
    let value = try read(&self)
    guard take("}") else { throw Self.isOtherwise }
    isFirst = false
    return value
  }

  private mutating func array<Value>(
    _ key: StaticString, _ read: (inout ExactMembers) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> [Value] {
    try moveToValue(of: key)
    guard take("[") else { throw Self.isOtherwise }
    var values: [Value] = []
    guard !take("]") else { return values }
    repeat { values.append(try read(&self)) } while take(",")
    guard take("]") else { throw Self.isOtherwise }
    return values
  }

  private mutating func text() throws(ImportProblem) -> String {
    String(decoding: try spelling(), as: UTF8.self)
  }

  /// Returns the bytes of a text, and moves past it.
  private mutating func spelling() throws(ImportProblem) -> UnsafeBufferPointer<UInt8> {
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

/// Whether these bytes are the same; compares eight at a time, of which the last may be compared twice.
private func isSame(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int) -> Bool {
  func isSame<Part: BitwiseCopyable & Equatable>(_ place: Int, _: Part.Type) -> Bool {
    one.loadUnaligned(fromByteOffset: place, as: Part.self)
      == other.loadUnaligned(fromByteOffset: place, as: Part.self)
  }
  guard count >= 8 else { return (0..<count).allSatisfy { isSame($0, UInt8.self) } }
  for place in stride(from: 0, to: count - 8, by: 8) where !isSame(place, UInt64.self) {
    return false
  }
  return isSame(count - 8, UInt64.self)
}
