/// A cache of decoded texts by their bytes: journals repeat permissions and names in every context.
///
/// Its size is fixed. The hash of a text selects one slot, and a new text replaces the old one
/// there.
struct TextTable: Sendable {
  /// The longest text that is cached, in bytes.
  static let longest = 32

  /// The bytes of a text as four numbers, padded with zeros.
  private struct Words: Sendable {
    var first: UInt64 = 0
    var second: UInt64 = 0
    var third: UInt64 = 0
    var fourth: UInt64 = 0

    @inline(__always)
    static func == (left: Words, right: Words) -> Bool {
      (left.first ^ right.first) | (left.second ^ right.second) | (left.third ^ right.third)
        | (left.fourth ^ right.fourth) == 0
    }
  }

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
      repeating: Slot(words: Words(), length: 0, text: ""), count: slots)
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
    case ...8:
      Words(first: utf8.firstWord())
    case ...16:
      Words(first: utf8.word(at: 0), second: utf8.lastWord(from: 8))
    case ...24:
      Words(first: utf8.word(at: 0), second: utf8.word(at: 8), third: utf8.lastWord(from: 16))
    default:
      Words(
        first: utf8.word(at: 0), second: utf8.word(at: 8), third: utf8.word(at: 16),
        fourth: utf8.lastWord(from: 24))
    }
  }

  /// A sum of products with odd numbers: no product waits for another one.
  @inline(__always)
  private static func hash(_ words: Words, _ length: Int) -> Int {
    let hash =
      (words.first &+ UInt64(truncatingIfNeeded: length)) &* 0x9E37_79B9_7F4A_7C15
      &+ words.second &* 0xC2B2_AE3D_27D4_EB4F
      &+ words.third &* 0xD6E8_FEB8_6659_FD93
      &+ words.fourth &* 0xA076_1D64_78BD_642F
    // All bits of the text reach the upper byte, so that comes first.
    return Int(truncatingIfNeeded: hash.byteSwapped)
  }
}

/// Reads the bytes of a text eight at a time.
extension UnsafeRawBufferPointer {
  /// Whether no byte is above 127; such bytes are valid UTF-8.
  @inline(__always)
  func isASCII() -> Bool {
    guard count >= 8 else { return shortWord() & 0x8080_8080_8080_8080 == 0 }
    var all: UInt64 = word(at: count - 8)
    var place = 0
    while place < count - 8 {
      all |= word(at: place)
      place += 8
    }
    return all & 0x8080_8080_8080_8080 == 0
  }

  /// Whether the bytes equal those of the other.
  func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else { return shortWord() == other.shortWord() }
    var place = 0
    while place < count - 8 {
      guard word(at: place) == other.word(at: place) else { return false }
      place += 8
    }
    return word(at: count - 8) == other.word(at: count - 8)
  }

  @inline(never)
  func isUTF8() -> Bool {
    String(validating: self, as: UTF8.self) != nil
  }

  /// Whether it comes before the other, by bytes.
  @inline(__always)
  func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    // A short text is padded with zeros. If the first eight bytes differ, they decide.
    let (mine, its) = (firstWord().byteSwapped, other.firstWord().byteSwapped)
    return mine != its ? mine < its : restPrecedes(other)
  }

  /// Whether it comes before the other, which has the same first eight bytes, padded with zeros.
  @inline(never)
  private func restPrecedes(_ other: UnsafeRawBufferPointer) -> Bool {
    let both = Swift.min(count, other.count)
    var place = 8
    while place < both {
      let mine = UnsafeRawBufferPointer(rebasing: self[place...]).firstWord().byteSwapped
      let its = UnsafeRawBufferPointer(rebasing: other[place...]).firstWord().byteSwapped
      if mine != its { return mine < its }
      place += 8
    }
    // The longer one goes on, perhaps with zeros.
    return count < other.count
  }

  /// Returns eight bytes as a number, the first byte lowest.
  @inline(__always)
  func word(at place: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// Returns the bytes from `place` to the end, which are one to eight; there are at least eight in
  /// all.
  @inline(__always)
  func lastWord(from place: Int) -> UInt64 {
    word(at: count - 8) >> UInt64(8 * (8 - (count - place)))
  }

  /// Returns the first eight bytes, padded with zeros.
  @inline(__always)
  func firstWord() -> UInt64 {
    count >= 8 ? word(at: 0) : shortWord()
  }

  /// Returns all bytes, fewer than eight, padded with zeros.
  private func shortWord() -> UInt64 {
    if count >= 4 {
      // The halves overlap, and agree in the overlap.
      let low = UInt32(littleEndian: loadUnaligned(fromByteOffset: 0, as: UInt32.self))
      let high = UInt32(littleEndian: loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      return UInt64(low) | UInt64(high) << UInt64(8 * (count - 4))
    }
    guard count > 0 else { return 0 }
    let (middle, last) = (count / 2, count - 1)
    return UInt64(self[0]) | UInt64(self[middle]) << UInt64(8 * middle)
      | UInt64(self[last]) << UInt64(8 * last)
  }
}
