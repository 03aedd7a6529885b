internal import SessionJSON

/// The only door through which text comes into a page.
enum HTML {
  /// Text that a browser shows as it is, between tags and in quoted attributes: what would mean something
  /// to it is escaped, and so is what moves cursors, breaks lines or turns directions.
  static func text(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case _ where scalar.isUnprintable:
        escaped += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The same, of at most `limit` characters.
  static func text(_ text: String, limit: Int) -> String {
    text.utf8.count <= limit ? Self.text(text) : Self.text(text.prefix(limit) + "…")
  }
}
