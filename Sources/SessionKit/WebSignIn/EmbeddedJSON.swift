/// JSON that stands somewhere within a text.
enum EmbeddedJSON {
  /// How many beginnings of an object are tried.
  static let mostTries = 32

  /// The objects in a text, the outermost of each place.
  static func objects(in bytes: [UInt8]) -> [JSONValue] {
    var (objects, tries, index): ([JSONValue], Int, Int) = ([], 0, 0)
    while tries < mostTries, let start = bytes[index...].firstIndex(of: UInt8(ascii: "{")) {
      tries += 1
      index = start + 1
      guard let end = end(ofObjectAt: start, bytes) else { continue }
      do {
        objects.append(try JSONReader.read(Array(bytes[start...end])))
        index = end + 1
      } catch {
        // Not JSON from here on; a brace within may begin some.
        continue
      }
    }
    return objects
  }

  /// Where the object that begins here would end; braces within its texts do not count.
  private static func end(ofObjectAt start: Int, _ bytes: [UInt8]) -> Int? {
    var (depth, isText, isEscaped) = (0, false, false)
    for index in start..<bytes.count {
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

  /// A text with one layer of escapes taken off, as JSON in a text in JSON has one more; `nil` where it
  /// has no escaped quote.
  static func unescaped(_ text: String) -> String? {
    guard text.contains("\\\"") else { return nil }
    var plain = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      guard isEscaped || scalar == "\\" else {
        plain.unicodeScalars.append(scalar)
        continue
      }
      guard isEscaped else {
        isEscaped = true
        continue
      }
      isEscaped = false
      switch scalar {
      case "n", "r", "t": plain += " "
      default: plain.unicodeScalars.append(scalar)
      }
    }
    return plain
  }
}
