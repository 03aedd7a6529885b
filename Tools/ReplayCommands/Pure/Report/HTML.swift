internal import SessionExplain
internal import SessionJSON

/// The only way by which text enters a page.
enum HTML {
  /// Returns text that a browser shows unchanged, between tags and in quoted attributes.
  ///
  /// Characters with a meaning in HTML are escaped. So are characters that move cursors, break
  /// lines or change the direction of text.
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

  /// Returns the escaped text, cut to at most `limit` characters.
  static func text(_ text: String, limit: Int) -> String {
    text.utf8.count <= limit ? Self.text(text) : Self.text(text.prefix(limit) + "…")
  }
}
