/// A quarantined journal: a file that cannot be used, moved aside and kept (Specs/JournalFormat.md,
/// "Set aside").
///
/// It is next to the journal's place, as `<path>.aside-<n>-<reason>-<time>`. Only `Journal.delete`
/// and `Journal.deleteKept` remove it.
package struct SetAsideJournal: Hashable, Sendable {
  /// The absolute path of the quarantined file, links followed.
  package let path: String

  /// Its number: 1 for the first journal that was quarantined here.
  package let number: UInt64

  /// Parses the part of a file name after the journal's name; nil for anything else.
  init?(path: String, rest: Substring) {
    guard rest.hasPrefix(FileSuffix.aside.rawValue) else { return nil }
    let parts = rest.dropFirst(FileSuffix.aside.rawValue.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty, parts[0].first != "0",
      parts[0].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      let number = UInt64(parts[0])
    else { return nil }
    self.path = path
    self.number = number
  }

  init(of journal: String, number: UInt64, reason: String, time: String) {
    path = journal + FileSuffix.aside.rawValue + "\(number)-\(reason)-\(time)"
    self.number = number
  }

  /// Returns the quarantined journal with the highest number; nil if there is none.
  static func last(
    beside location: JournalLocation, _ fileSystem: any JournalFileSystem
  ) throws(SystemFault) -> SetAsideJournal? {
    let cut = location.real.lastIndex(of: "/").map { location.real.index(after: $0) }
    let start = cut ?? location.real.startIndex
    let own = location.real[start...]
    return try fileSystem.names(beside: location.real).compactMap { name in
      guard name.hasPrefix(own) else { return nil }
      return SetAsideJournal(
        path: location.real[..<start] + name, rest: name.dropFirst(own.count))
    }.max { $0.number < $1.number }
  }
}
