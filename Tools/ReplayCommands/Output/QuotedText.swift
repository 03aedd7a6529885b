internal import SessionJSON

extension String {
  /// A file's name as a shell reads it back.
  ///
  /// The name is quoted if it holds anything except letters, digits and `._/-+:@%,=`. It never
  /// contains a line feed, and a shell command never takes it for an option.
  ///
  /// A name that is longer than any path can be is cut.
  var quotedWhereNeeded: String {
    guard utf8.count <= 4_096 else { return String(prefix(80)).quotedWhereNeeded + "…" }
    guard !hasPrefix("-") || self == "-" else { return ("./" + self).quotedWhereNeeded }
    guard isEmpty || unicodeScalars.contains(where: { !$0.isPlainInShell }) else { return self }
    guard unicodeScalars.contains(where: \.isUnprintable) else {
      return "'"
        + split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: #"'\''"#) + "'"
    }
    var text = "$'"
    for scalar in unicodeScalars {
      if scalar.isUnprintable {
        for byte in Array(String(scalar).utf8) {
          let digits = String(byte, radix: 8)
          text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
      } else {
        if scalar == "'" || scalar == "\\" { text += "\\" }
        text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }

  /// The text, cut to at most 80 characters; for words from the command line.
  var shortened: String {
    utf8.count <= 80 || count <= 80 ? self : prefix(79) + "…"
  }
}

extension Unicode.Scalar {
  /// Whether the character has no special meaning for a shell.
  fileprivate var isPlainInShell: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9": true
    case ".", "_", "/", "-", "+", ":", "@", "%", ",", "=": true
    default: properties.isAlphabetic
    }
  }
}
