import SessionJSON
import SessionKit

/// Finds JSON within a text.
enum EmbeddedJSON {
  /// The maximum number of opening braces to try.
  static let mostTries = 32

  /// Returns the outermost objects in a text.
  ///
  /// `budget` is the number of bytes that may still be read. A byte that is read again counts
  /// again.
  static func objects(in bytes: [UInt8], budget: inout Int) -> [JSONValue] {
    var (objects, tries, index): ([JSONValue], Int, Int) = ([], 0, 0)
    while tries < mostTries, budget > 0,
      let start = bytes[index...].firstIndex(of: UInt8(ascii: "{"))
    {
      tries += 1
      index = start + 1
      let last = min(bytes.count, start + budget)
      guard let end = end(ofObjectAt: start, before: last, bytes) else {
        budget -= last - start
        continue
      }
      budget -= end - start + 1
      guard budget > end - start else { break }
      budget -= end - start + 1
      do {
        objects.append(try JSONReader.read(Array(bytes[start...end])))
        index = end + 1
      } catch {
        // This is not JSON, but a later brace may begin an object.
        continue
      }
    }
    return objects
  }

  /// Returns the end of the object that begins here.
  ///
  /// Braces within its texts do not count.
  private static func end(ofObjectAt start: Int, before last: Int, _ bytes: [UInt8]) -> Int? {
    var (depth, isText, isEscaped) = (0, false, false)
    for index in start..<last {
      let byte = bytes[index]
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
  }

  /// Removes one layer of escapes, as in JSON within a text of JSON.
  ///
  /// Returns `nil` if the text has no escaped quote.
  static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
    var plain: [UInt8] = []
    var (isEscaped, hasQuote, last) = (false, false, UInt8(0))
    for byte in bytes {
      if byte == UInt8(ascii: "\""), last == UInt8(ascii: "\\") { hasQuote = true }
      last = byte
      guard isEscaped else {
        isEscaped = byte == UInt8(ascii: "\\")
        if !isEscaped { plain.append(byte) }
        continue
      }
      isEscaped = false
      switch byte {
      case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        plain.append(UInt8(ascii: " "))
      default: plain.append(byte)
      }
    }
    return hasQuote ? plain : nil
  }
}

/// Finds addresses within a text.
enum EmbeddedAddress {
  /// Returns the words that contain `://` and a query or a fragment, without punctuation at their
  /// ends.
  static func addresses(in bytes: [UInt8]) -> [String] {
    bytes.split(whereSeparator: isOutside).compactMap { word in
      var word = word
      while let last = word.last, ".,;:".utf8.contains(last) { word.removeLast() }
      guard word.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
        let colon = word.firstIndex(of: UInt8(ascii: ":")), word[colon...].starts(with: "://".utf8)
      else { return nil }
      return String(decoding: word, as: UTF8.self)
    }
  }

  /// Returns whether a byte cannot be part of an address: a space, a quote, a bracket or an escape.
  private static func isOutside(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"),
      UInt8(ascii: "\\"),
      UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "{"), UInt8(ascii: "}"):
      true
    default: false
    }
  }
}
