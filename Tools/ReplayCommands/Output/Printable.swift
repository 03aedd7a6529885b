extension String {
  /// The text with everything escaped that could move a terminal's cursor, break a line or turn
  /// its direction: names come from servers.
  var printable: String {
    guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if scalar.isUnprintable {
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

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

  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  func leftPadded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}

extension Unicode.Scalar {
  /// Whether a shell takes it for nothing but itself.
  fileprivate var isPlainInShell: Bool {
    properties.isAlphabetic || (0x30...0x39).contains(value)
      || "._/-+:@%,=".unicodeScalars.contains(self)
  }

  /// Whether it could move a cursor, break a line or turn the direction of what follows.
  var isUnprintable: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension FixedWidthInteger {
  /// The number with its thousands set apart: `9,912`.
  var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }
}

/// `1 record`, `2 records`.
func count(_ number: some FixedWidthInteger, _ noun: String) -> String {
  "\(number.grouped) \(noun)\(number == 1 ? "" : "s")"
}
