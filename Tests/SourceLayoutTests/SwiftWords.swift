/// The words of a Swift source: its identifiers and keywords, without comments and texts.
///
/// The code in an interpolation counts. A member (`.name`) does not: its owner stands before it.
struct SwiftWords {
  /// A word, and the number of braces around it.
  struct Word: Equatable {
    let text: String
    let depth: Int
  }

  /// A string literal that is open: the number of its `#`, and whether it has three quotes.
  private struct Literal {
    let hashes: Int
    let isLong: Bool
  }

  private(set) var list: [Word] = []
  private let bytes: [UInt8]
  private var place = 0
  private var braces = 0
  private var parentheses = 0
  /// The literals around the code of an interpolation, each with the parentheses around it.
  private var around: [(literal: Literal, parentheses: Int)] = []

  init(_ source: String) {
    bytes = Array(source.utf8)
    while place < bytes.count { step() }
  }

  /// The names of the types that the source declares outside of other types and for its module.
  var declared: Set<String> { names { $0 == 0 && !$1 } }

  /// The names of other files' types that the source may use: those of its own types are left out.
  var used: Set<String> {
    Set(list.map(\.text).filter { $0.first?.isUppercase == true }).subtracting(
      names { _, _ in true })
  }

  /// Returns the names of declared types by their depth, and by whether they are private.
  private func names(_ isWanted: (Int, Bool) -> Bool) -> Set<String> {
    var names: Set<String> = []
    for (index, word) in list.dropLast().enumerated() where Self.kinds.contains(word.text) {
      let modifiers = list[..<index].reversed().prefix { Self.modifiers.contains($0.text) }
      let isPrivate = modifiers.contains { $0.text.hasSuffix("private") }
      if isWanted(word.depth, isPrivate) { names.insert(list[index + 1].text) }
    }
    return names
  }

  private static let kinds: Set<String> = [
    "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype",
  ]
  private static let modifiers: Set<String> = [
    "public", "package", "internal", "private", "fileprivate", "final", "indirect", "nonisolated",
  ]

  private func byte(_ offset: Int = 0) -> UInt8? {
    place + offset < bytes.count ? bytes[place + offset] : nil
  }

  private func isAt(_ text: StaticString, _ offset: Int = 0) -> Bool {
    text.withUTF8Buffer { bytes.dropFirst(place + offset).starts(with: $0) }
  }

  private mutating func step() {
    switch byte() {
    case UInt8(ascii: "/") where isAt("//"):
      while let byte = byte(), byte != UInt8(ascii: "\n") { place += 1 }
    case UInt8(ascii: "/") where isAt("/*"):
      while place < bytes.count, !isAt("*/") { place += 1 }
      place += 2
    case UInt8(ascii: "\""), UInt8(ascii: "#"): openLiteral()
    case UInt8(ascii: "("):
      parentheses += 1
      place += 1
    case UInt8(ascii: ")"):
      place += 1
      guard parentheses == 0, let outer = around.popLast() else {
        parentheses -= 1
        return
      }
      parentheses = outer.parentheses
      skip(outer.literal)
    case UInt8(ascii: "{"), UInt8(ascii: "}"):
      braces += byte() == UInt8(ascii: "{") ? 1 : -1
      place += 1
    case let byte? where Self.isPart(byte): word()
    default: place += 1
    }
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private mutating func word() {
    let start = place
    while let byte = byte(), Self.isPart(byte) { place += 1 }
    guard start == 0 || bytes[start - 1] != UInt8(ascii: ".") else { return }
    list.append(Word(text: String(decoding: bytes[start..<place], as: UTF8.self), depth: braces))
  }

  private mutating func openLiteral() {
    var hashes = 0
    while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
    guard byte(hashes) == UInt8(ascii: "\"") else {
      // A directive such as `#if`.
      place += max(1, hashes)
      return
    }
    let isLong = isAt("\"\"\"", hashes)
    place += hashes + (isLong ? 3 : 1)
    skip(Literal(hashes: hashes, isLong: isLong))
  }

  /// Skips the rest of a literal, or its text before the next interpolation.
  private mutating func skip(_ literal: Literal) {
    while let next = byte() {
      let quotes = literal.isLong ? 3 : 1
      if next == UInt8(ascii: "\\"), hasHashes(literal, 1) {
        place += 1 + literal.hashes
        guard byte() == UInt8(ascii: "(") else {
          place += 1
          continue
        }
        place += 1
        around.append((literal, parentheses))
        parentheses = 0
        return
      }
      let isEnd = literal.isLong ? isAt("\"\"\"") : next == UInt8(ascii: "\"")
      if isEnd, hasHashes(literal, quotes) {
        place += quotes + literal.hashes
        return
      }
      place += 1
    }
  }

  private func hasHashes(_ literal: Literal, _ offset: Int) -> Bool {
    (0..<literal.hashes).allSatisfy { byte(offset + $0) == UInt8(ascii: "#") }
  }
}
