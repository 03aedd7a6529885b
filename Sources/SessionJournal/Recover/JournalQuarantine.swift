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
}

extension Journal {
  /// Returns the identity of the file at `path`; nil if there is none.
  package static func identity(at path: String, options: Options) throws(JournalError)
    -> FileStatus.Identity?
  {
    let location = try JournalLocation.find(path, options.fileSystem)
    guard location.isThere else { return nil }
    return try location.status(options.fileSystem).identity
  }

  /// Moves the file at `path` aside, durably, if it is still the file that the caller examined.
  ///
  /// - Of several processes that find the same file unusable, one moves it. The others find another
  ///   file or none, and get nil.
  /// - `reason` and `time` become part of the name. They may hold letters and digits only.
  /// - A link to the file stays. Its target is moved within the target's folder, and the next
  ///   journal is created in its place.
  ///
  /// Throws `busy`, `hardLinked`, `io`, `permissionDenied` or `readOnlyFolder`.
  ///
  /// - Requirement: RES-9
  package static func setAside(
    _ path: String, _ identity: FileStatus.Identity, reason: String, time: String,
    options: Options
  ) throws(JournalError) -> SetAsideJournal? {
    let fileSystem = options.fileSystem
    let location = try JournalLocation.find(path, fileSystem)
    guard location.isThere else { return nil }
    var lock = LockFile(
      beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    defer { lock.close() }
    try lock.acquire()
    return try onFile(path) { () throws(SystemFault) in
      do throws(SystemFault) {
        guard try fileSystem.status(of: location.real).identity == identity else { return nil }
      } catch {
        guard error.isMissing else { throw error }
        return nil
      }
      let known = try setAside(beside: location, fileSystem)
      let aside = SetAsideJournal(
        of: location.real, number: (known?.number ?? 0) + 1, reason: reason, time: time)
      let folder = try fileSystem.openFolder(of: location.real)
      try fileSystem.rename(location.real, to: aside.path)
      try folder.synchronize()
      return aside
    }
  }

  /// Returns the last journal that was quarantined at this path; nil if there is none.
  package static func lastSetAside(at path: String, options: Options) throws(JournalError)
    -> SetAsideJournal?
  {
    let location = try JournalLocation.find(path, options.fileSystem)
    return try onFile(path) { () throws(SystemFault) in
      try setAside(beside: location, options.fileSystem)
    }
  }

  /// Returns the quarantined journal with the highest number; nil if there is none.
  static func setAside(
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

extension JournalError {
  /// Whether the file exists and can be read, but its content is unusable.
  ///
  /// False for faults of disks, rights or room.
  package var isOfUnusableFile: Bool {
    switch self {
    case .empty, .notAJournal, .headerDamaged, .newerFormat, .unknownFeatures, .damaged: true
    default: false
    }
  }

  /// Whether the file is now another journal, or this journal with another history.
  ///
  /// The error persists until the process opens the journal anew.
  package var isOfAnotherHistory: Bool {
    switch self {
    case .replaced: true
    case .damaged(_, let damage): damage.flaw == .historyChanged
    default: false
    }
  }
}
