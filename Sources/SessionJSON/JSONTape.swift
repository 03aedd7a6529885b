/// The structure of a JSON text as a flat list of places, without texts of its own.
///
/// It accepts exactly what ``JSONTree`` accepts. A tape that is used again allocates nothing.
package struct JSONTape: Sendable {
  /// The type of a value.
  package enum Kind: UInt8, Sendable {
    case object, array, text, number, yes, no, null
  }

  /// A value or a key.
  struct Entry: Sendable {
    var kind: Kind
    /// Whether it is a text with escapes.
    var isEscaped = false
    /// Whether all of its bytes are ASCII, if it is a text without escapes.
    var isASCII = true
    /// Its bytes, without the quotation marks of a text.
    var start: Int
    var end: Int
    /// The index of the entry after it, and after all that is in it.
    var next = 0
  }

  private var bytes: ArraySlice<UInt8> = []
  private(set) var entries: [Entry] = []

  package init() {}

  /// Reads one value that takes up all of the bytes; `false` if ``JSONTree`` throws for them.
  package mutating func read(_ text: ArraySlice<UInt8>) -> Bool {
    bytes = text
    var reused: [Entry] = []
    swap(&reused, &entries)
    reused.removeAll(keepingCapacity: true)
    // Most texts of a response or an item have no more values. A list that grows is moved each time.
    reused.reserveCapacity(min(64, 8 + text.count / 16))
    return text.withUnsafeBufferPointer { buffer in
      var scan = TapeScan(bytes: buffer, entries: reused)
      let isWhole = scan.whole()
      swap(&entries, &scan.entries)
      return isWhole
    }
  }

  /// The value that was read.
  package var root: JSONPart { JSONPart(tape: self, index: 0) }

  /// Passes on the bytes of a text as they are spelled, or those of another value.
  @inline(__always)
  func withSpelling<Result>(of entry: Entry, _ body: (UnsafeBufferPointer<UInt8>) -> Result)
    -> Result
  {
    bytes.withUnsafeBufferPointer {
      body(UnsafeBufferPointer(rebasing: $0[entry.start..<entry.end]))
    }
  }

  /// Returns the text of an entry, without its escapes.
  func text(of entry: Entry) -> String {
    withSpelling(of: entry) { spelled in
      entry.isEscaped
        ? TapeScan.decoded(spelled) ?? "" : String(decoding: spelled, as: UTF8.self)
    }
  }

  /// Returns the entry of the value that an object has under a name; `nil` if there is none.
  ///
  /// Names are compared as Unicode compares texts. If several are equivalent, the last one counts.
  func member(_ name: String, of object: Int) -> Int? {
    var spelled = name
    return spelled.withUTF8 { name in
      bytes.withUnsafeBufferPointer { bytes in
        var (key, found) = (object + 1, Int?.none)
        let end = entries[object].next
        let isASCII = name.allSatisfy { $0 < 0x80 }
        while key < end {
          let entry = entries[key]
          let isSame =
            entry.isEscaped || !entry.isASCII || !isASCII
            ? text(of: entry) == String(decoding: name, as: UTF8.self)
            : UnsafeBufferPointer(rebasing: bytes[entry.start..<entry.end]).isEqual(to: name)
          if isSame { found = key + 1 }
          key = entries[key + 1].next
        }
        return found
      }
    }
  }

  /// Whether an entry is this text, byte by byte.
  @inline(__always)
  func isText(_ entry: Entry, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard !entry.isEscaped else { return self.text(of: entry).utf8.elementsEqual(text) }
    return withSpelling(of: entry) { $0.isEqual(to: text) }
  }
}

/// The reading of a tape.
private struct TapeScan {
  /// The number of members up to which keys are compared with each other without a set.
  private static let fewMembers = 32

  let bytes: UnsafeBufferPointer<UInt8>
  var entries: [JSONTape.Entry]
  private var place = 0

  init(bytes: UnsafeBufferPointer<UInt8>, entries: [JSONTape.Entry]) {
    self.bytes = bytes
    self.entries = entries
  }

  mutating func whole() -> Bool {
    guard value(depth: 1) else { return false }
    skipSpace()
    return place == bytes.count
  }

  @inline(__always)
  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  @inline(__always)
  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      place += 1
    }
  }

  @inline(__always)
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) -> Bool {
    guard depth <= JSONScanner.Rules.strict.deepest else { return false }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return object(depth)
    case UInt8(ascii: "["): return array(depth)
    case UInt8(ascii: "\""): return text()
    case UInt8(ascii: "t"): return word("true", .yes)
    case UInt8(ascii: "f"): return word("false", .no)
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  @inline(__always)
  private mutating func add(_ kind: JSONTape.Kind, from start: Int, to end: Int, isEscaped: Bool) {
    entries.append(
      JSONTape.Entry(
        kind: kind, isEscaped: isEscaped, start: start, end: end, next: entries.count + 1))
  }

  private mutating func word(_ word: StaticString, _ kind: JSONTape.Kind) -> Bool {
    let end = place + word.utf8CodeUnitCount
    guard end <= bytes.count,
      word.withUTF8Buffer({ bytes[place..<end].elementsEqual($0) })
    else { return false }
    add(kind, from: place, to: end, isEscaped: false)
    place = end
    return true
  }

  private mutating func object(_ depth: Int) -> Bool {
    let own = entries.count
    add(.object, from: place, to: place, isEscaped: false)
    place += 1
    skipSpace()
    var members = 0
    var keys: Set<[UInt8]> = []
    if !take("}") {
      repeat {
        skipSpace()
        let key = entries.count
        guard next == UInt8(ascii: "\""), text(), isNew(key, of: own, members, &keys) else {
          return false
        }
        members += 1
        skipSpace()
        guard take(":"), value(depth: depth + 1) else { return false }
        skipSpace()
      } while take(",")
      guard take("}") else { return false }
    }
    (entries[own].end, entries[own].next) = (place, entries.count)
    return true
  }

  /// Whether no earlier member of the object has the key at this entry.
  private func isNew(_ key: Int, of object: Int, _ members: Int, _ keys: inout Set<[UInt8]>)
    -> Bool
  {
    var earlier = object + 1
    guard members >= Self.fewMembers else {
      while earlier < key {
        if isEqual(entries[earlier], entries[key]) { return false }
        earlier = entries[earlier + 1].next
      }
      return true
    }
    if keys.isEmpty {
      while earlier < key {
        keys.insert(content(entries[earlier]))
        earlier = entries[earlier + 1].next
      }
    }
    return keys.insert(content(entries[key])).inserted
  }

  @inline(__always)
  private func isEqual(_ one: JSONTape.Entry, _ other: JSONTape.Entry) -> Bool {
    guard !one.isEscaped, !other.isEscaped else { return content(one) == content(other) }
    return UnsafeBufferPointer(rebasing: bytes[one.start..<one.end])
      .isEqual(to: UnsafeBufferPointer(rebasing: bytes[other.start..<other.end]))
  }

  /// The bytes of a text, without its escapes.
  private func content(_ entry: JSONTape.Entry) -> [UInt8] {
    let spelled = UnsafeBufferPointer(rebasing: bytes[entry.start..<entry.end])
    return entry.isEscaped ? Array((Self.decoded(spelled) ?? "").utf8) : Array(spelled)
  }

  private mutating func array(_ depth: Int) -> Bool {
    let own = entries.count
    add(.array, from: place, to: place, isEscaped: false)
    place += 1
    skipSpace()
    if !take("]") {
      repeat {
        guard value(depth: depth + 1) else { return false }
        skipSpace()
      } while take(",")
      guard take("]") else { return false }
    }
    (entries[own].end, entries[own].next) = (place, entries.count)
    return true
  }

  private mutating func text() -> Bool {
    place += 1
    let start = place
    var (isEscaped, isASCII) = (false, true)
    while true {
      let run = bytes.plainRun(from: place)
      (place, isASCII) = (run.end, isASCII && run.isASCII)
      guard let byte = next, byte >= 0x20 else { return false }
      if byte == UInt8(ascii: "\"") { break }
      isEscaped = true
      // The byte after the backslash is no end of the text.
      place += 2
    }
    let spelled = UnsafeBufferPointer(rebasing: bytes[start..<place])
    if isEscaped {
      guard Self.decoded(spelled) != nil else { return false }
    } else if !isASCII {
      guard String(validating: spelled, as: UTF8.self) != nil else { return false }
    }
    add(.text, from: start, to: place, isEscaped: isEscaped)
    entries[entries.count - 1].isASCII = isASCII
    place += 1
    return true
  }

  /// Returns a text that is spelled with escapes; `nil` if it is not spelled as RFC 8259 says.
  static func decoded(_ spelled: UnsafeBufferPointer<UInt8>) -> String? {
    let quoted: [UInt8] = [0x22] + Array(spelled) + [0x22]
    var scanner = JSONScanner(quoted[...], .strict)
    do throws(JSONTree.Problem) {
      guard case .text(let text) = try scanner.whole() else { return nil }
      return text
    } catch {
      return nil
    }
  }

  private mutating func number() -> Bool {
    let start = place
    _ = take("-")
    let isZero = next == UInt8(ascii: "0")
    let first = place
    guard digits(), !isZero || place == first + 1 else { return false }
    if take("."), !digits() { return false }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      guard digits() else { return false }
    }
    add(.number, from: start, to: place, isEscaped: false)
    return true
  }

  @inline(__always)
  private mutating func digits() -> Bool {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    return place > start
  }
}
