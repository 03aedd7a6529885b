/// A cache of decoded texts by their bytes: journals repeat permissions and names in every context.
///
/// Its size is fixed. The hash of a text selects one slot, and a new text replaces the old one
/// there.
struct TextTable: Sendable {
  /// The longest text that is cached, in bytes.
  static let longest = 32

  /// The bytes of a text as four numbers, padded with zeros.
  private typealias Words = SIMD4<UInt64>

  private struct Slot: Sendable {
    var words: Words
    /// The length of the text, in bytes; 0 in an unused slot.
    var length: Int
    var text: String
  }

  private var slots: ContiguousArray<Slot> = []

  /// Creates a table that caches nothing.
  init() {}

  /// Creates a table of `slots` texts; the number must be a power of two.
  init(slots: Int) {
    self.slots = ContiguousArray(
      repeating: Slot(words: .zero, length: 0, text: ""), count: slots)
  }

  /// Returns the text with these bytes; `nil` unless they are UTF-8.
  @inline(__always)
  mutating func text(_ utf8: UnsafeRawBufferPointer) -> String? {
    let length = utf8.count
    guard length <= Self.longest, length > 0, !slots.isEmpty else {
      return String(checkedUTF8: utf8)
    }
    let words = Self.words(utf8)
    let place = Self.hash(words, length) & (slots.count - 1)
    if slots[place].length == length, slots[place].words == words { return slots[place].text }
    return keep(utf8, words, at: place)
  }

  @inline(never)
  private mutating func keep(_ utf8: UnsafeRawBufferPointer, _ words: Words, at place: Int)
    -> String?
  {
    guard let text = String(checkedUTF8: utf8) else { return nil }
    slots[place] = Slot(words: words, length: utf8.count, text: text)
    return text
  }

  @inline(__always)
  private static func words(_ utf8: UnsafeRawBufferPointer) -> Words {
    switch utf8.count {
    case ...8: Words(utf8.firstWord(), 0, 0, 0)
    case ...16: Words(utf8.word(at: 0), utf8.lastWord(from: 8), 0, 0)
    case ...24: Words(utf8.word(at: 0), utf8.word(at: 8), utf8.lastWord(from: 16), 0)
    default: Words(utf8.word(at: 0), utf8.word(at: 8), utf8.word(at: 16), utf8.lastWord(from: 24))
    }
  }

  @inline(__always)
  private static func hash(_ words: Words, _ length: Int) -> Int {
    var hash = words[0] &+ UInt64(truncatingIfNeeded: length)
    for index in 1..<4 { hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15 &+ words[index] }
    hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: hash >> 40)
  }
}
