internal import SessionJSON

extension String {
  /// A file's name as a shell reads it back: as it is, or in quotes wherever it holds anything but
  /// letters, digits and `._/-+:@%,=`; never with a line feed in it, and never taken for an option.
  ///
  /// One that is longer than any path can be is cut.
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

  /// The text, of which no more than 80 characters are left: for words that somebody gave.
  var shortened: String {
    utf8.count <= 80 || count <= 80 ? self : prefix(79) + "…"
  }
}

extension Unicode.Scalar {
  /// Whether a shell takes it for nothing but itself.
  fileprivate var isPlainInShell: Bool {
    properties.isAlphabetic || (0x30...0x39).contains(value)
      || "._/-+:@%,=".unicodeScalars.contains(self)
  }
}
