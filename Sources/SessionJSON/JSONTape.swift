/// The structure of a JSON text as a flat list of places, without texts of its own.
///
/// A tape that is used again allocates nothing.
package struct JSONTape: Sendable {
  /// The type of a value.
  package enum Kind: UInt8, Sendable {
    case object, array, text, number, yes, no, null
    /// A value whose end is known but whose content cannot be decoded; strict rules refuse it.
    case unreadable
  }

  /// The way to handle what RFC 8259 leaves to a parser.
  package enum Rules {
    /// An object must not hold a key twice, and a value that cannot be decoded is an error.
    case strict
    /// A value that cannot be decoded is ``Kind/unreadable``. A member whose key cannot be
    /// decoded is left out. A mark of the byte order is no part of the text.
    case tolerant

    /// The depth that values may have.
    var deepest: Int { self == .strict ? 32 : 64 }
  }

  /// Why and where bytes are not JSON.
  package struct Problem: Error, Equatable, Sendable {
    /// The number of bytes before the error; all of them exactly if the text is a proper prefix of
    /// JSON.
    package let offset: Int
    package let message: String
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

  /// Reads one value that takes up all of the bytes.
  package mutating func read(_ text: ArraySlice<UInt8>, _ rules: Rules = .strict) throws(Problem) {
    bytes = text
    entries.removeAll(keepingCapacity: true)
    // Most texts of a response or an item have no more values. A list that grows is moved each time.
    entries.reserveCapacity(min(64, 8 + text.count / 16))
    try text.withUnsafeBufferPointer { buffer throws(Problem) in
      var scanner = JSONScanner(buffer, rules)
      swap(&entries, &scanner.entries)
      defer { swap(&entries, &scanner.entries) }
      try scanner.whole()
    }
  }

  /// An object without members.
  package static let emptyObject: JSONPart = {
    var tape = JSONTape()
    tape.entries = [Entry(kind: .object, start: 0, end: 0, next: 1)]
    return tape.root
  }()

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
    bytes.withUnsafeBufferPointer {
      entry.isEscaped
        ? JSONScanner.decoded($0, from: entry.start)
        : String(decoding: $0[entry.start..<entry.end], as: UTF8.self)
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
