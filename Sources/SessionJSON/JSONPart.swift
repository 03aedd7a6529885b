/// A value in a JSON text.
///
/// A text has more members than are used. So texts are made only of those that are asked for.
@usableFromInline
package struct JSONPart: Sendable {
  let tape: JSONTape
  let index: Int

  private var entry: JSONTape.Entry { tape.entries[index] }

  package var kind: JSONTape.Kind { entry.kind }

  /// The text; `nil` if it is another value.
  package var text: String? { kind == .text ? tape.text(of: entry) : nil }

  /// What is between the quotation marks of a text, or the digits of a number.
  package var spelling: String {
    tape.withSpelling(of: entry) { String(decoding: $0, as: UTF8.self) }
  }

  /// Passes on the bytes of a text, or of the digits of a number.
  package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    guard entry.isEscaped else { return tape.withSpelling(of: entry, body) }
    var text = tape.text(of: entry)
    return text.withUTF8(body)
  }

  /// The whole number; `nil` if it is another value, has a fraction or an exponent, is `-0`, or is
  /// out of range.
  // Inlinable, so that other modules call no generic function for each number.
  @inlinable
  package func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) -> Value? {
    guard let (magnitude, isNegative) = wholeNumber else { return nil }
    guard isNegative else { return Value(exactly: magnitude) }
    return magnitude > 1 << 63
      ? nil : Value(exactly: Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  /// The absolute value and the sign of a whole number of at most 64 bits.
  @usableFromInline
  package var wholeNumber: (magnitude: UInt64, isNegative: Bool)? {
    guard kind == .number else { return nil }
    return tape.withSpelling(of: entry) { digits in
      let isNegative = digits.first == UInt8(ascii: "-")
      var value: UInt64 = 0
      for byte in digits.dropFirst(isNegative ? 1 : 0) {
        guard (0x30...0x39).contains(byte) else { return nil }
        let (tenfold, isTooLong) = value.multipliedReportingOverflow(by: 10)
        let (sum, isOver) = tenfold.addingReportingOverflow(UInt64(byte &- 0x30))
        guard !isTooLong, !isOver else { return nil }
        value = sum
      }
      return isNegative && value == 0 ? nil : (value, isNegative)
    }
  }

  /// The elements of an array; none of another value.
  package var elements: [JSONPart] {
    guard kind == .array else { return [] }
    var (elements, place): ([JSONPart], Int) = ([], index + 1)
    while place < entry.next {
      elements.append(JSONPart(tape: tape, index: place))
      place = tape.entries[place].next
    }
    return elements
  }
}

extension JSONPart {
  /// The value, with all that is in it.
  package var value: JSONValue {
    switch kind {
    case .null: return .null
    case .yes: return .bool(true)
    case .no: return .bool(false)
    case .number: return .number(JSONNumber(checked: spelling))
    case .text: return .string(text ?? "")
    case .unreadable: return .unreadable(spelling.utf8.first == UInt8(ascii: "\"") ? .text : .depth)
    case .array: return .array(elements.map(\.value))
    case .object:
      let entries = tape.entries
      var (key, members) = (index + 1, [String: JSONValue]())
      while key < entries[index].next {
        members[tape.text(of: entries[key])] = JSONPart(tape: tape, index: key + 1).value
        key = entries[key + 1].next
      }
      return .object(members)
    }
  }

  /// Returns the member of an object; `nil` if there is none, or if the value is another one.
  ///
  /// If Unicode calls several names equivalent to this one, the last of them counts.
  package func member(_ name: String) -> JSONPart? {
    guard kind == .object else { return nil }
    return tape.member(name, of: index).map { JSONPart(tape: tape, index: $0) }
  }

  /// Returns the element of an array; `nil` if there is none, or if the value is another one.
  package func element(_ index: Int) -> JSONPart? {
    let elements = elements
    return elements.indices.contains(index) ? elements[index] : nil
  }

  /// The members of an object, which are usually asked for in their order.
  package struct Members: Sendable {
    private let tape: JSONTape
    private let index: Int
    /// The entry and the number of the member after the last one that was found.
    private var place: (entry: Int, number: Int)

    /// Creates the members of an object; `nil` if the part is another value.
    package init?(_ part: JSONPart) {
      guard part.kind == .object else { return nil }
      (tape, index) = (part.tape, part.index)
      place = (index + 1, 0)
    }

    private var end: Int { tape.entries[index].next }

    /// All keys in their order.
    package var keys: [String] {
      var (keys, entry): ([String], Int) = ([], index + 1)
      while entry < end {
        keys.append(tape.text(of: tape.entries[entry]))
        entry = tape.entries[entry + 1].next
      }
      return keys
    }

    /// The number of members.
    package var count: Int {
      var (count, entry) = (0, index + 1)
      while entry < end { (count, entry) = (count + 1, tape.entries[entry + 1].next) }
      return count
    }

    /// Returns the member with a key, and its number in the order of the text; `nil` if there is none.
    package mutating func find(_ key: String) -> (value: JSONPart, number: Int)? {
      var key = key
      return key.withUTF8 { find($0) }
    }

    /// Returns the member with a key, and its number in the order of the text; `nil` if there is none.
    package mutating func find(_ key: StaticString) -> (value: JSONPart, number: Int)? {
      find(key.bytes)
    }

    private mutating func find(
      _ key: UnsafeBufferPointer<UInt8>
    ) -> (value: JSONPart, number: Int)? {
      let (first, end) = (place, end)
      while place.entry < end {
        if let found = take(key) { return found }
      }
      place = (index + 1, 0)
      while place.entry < first.entry {
        if let found = take(key) { return found }
      }
      return nil
    }

    /// Moves to the next member; returns this one if it has the key.
    @inline(__always)
    private mutating func take(_ key: UnsafeBufferPointer<UInt8>)
      -> (value: JSONPart, number: Int)?
    {
      let (entry, number) = place
      place = (tape.entries[entry + 1].next, number + 1)
      guard tape.isText(tape.entries[entry], key) else { return nil }
      return (JSONPart(tape: tape, index: entry + 1), number)
    }
  }
}
