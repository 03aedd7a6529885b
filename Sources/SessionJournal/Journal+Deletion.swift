extension Journal {
  /// Removes the journal at `path` and all files next to it that belong to it, durably.
  ///
  /// Removes, in this order:
  /// 1. The file itself.
  /// 2. The tails and quarantined journals that were kept, and what an interrupted creation or
  ///    compaction left. Also the file that shows which openings are alive.
  /// 3. The lock file.
  ///
  /// If the call is interrupted, call it again: it removes what is left, even if the journal itself
  /// is gone. A link to the journal stays. An object that has it open throws `missing` from then
  /// on, and may leave an empty lock file.
  ///
  /// Throws `missing` if nothing of it is there, `notAJournal` if something else is at the path,
  /// and `hardLinked` if the file has other names. Throws `busy`, `io`, `permissionDenied` and
  /// `readOnlyFolder`, and the errors of a path that leads to no file.
  ///
  /// - Requirement: JRN-1
  public static func delete(at path: String, options: JournalOptions = JournalOptions())
    throws(JournalError)
  {
    try delete(at: path, options: options) { true }
  }

  /// Removes it only if `mayGo` returns true, which is asked under the lock of a journal that is there.
  package static func delete(at path: String, options: JournalOptions, if mayGo: () -> Bool)
    throws(JournalError)
  {
    let fileSystem = options.fileSystem
    let location = try JournalLocation.find(path, fileSystem)
    let deletion = JournalDeletion(location: location, fileSystem: fileSystem)
    if location.isThere {
      try deletion.refuseOthers()
    } else if try deletion.leftovers().isEmpty {
      throw .missing(path: path)
    }
    var lock = LockFile(
      beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    defer { lock.close() }
    try lock.acquire()
    try deletion.run(lock, lockPath: lock.path, if: mayGo)
  }

  /// Removes the tails and quarantined journals next to the journal at `path`, durably.
  ///
  /// The journal stays. Throws `missing` if no journal is there, `folderMissing`, `busy`, `io`,
  /// `permissionDenied` and `readOnlyFolder`.
  package static func deleteKept(at path: String, options: JournalOptions = JournalOptions())
    throws(JournalError)
  {
    let fileSystem = options.fileSystem
    let location = try JournalLocation.find(path, fileSystem)
    guard location.isThere else { throw .missing(path: path) }
    let deletion = JournalDeletion(location: location, fileSystem: fileSystem)
    guard try !deletion.kept().isEmpty else { return }
    var lock = LockFile(
      beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    defer { lock.close() }
    try lock.acquire()
    for name in try deletion.kept() { try deletion.remove(name) }
    try deletion.synchronizeFolder()
  }
}

/// The removal of one journal's files, under its lock.
private struct JournalDeletion {
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  private var path: String { location.given }

  func run(_ lock: LockFile, lockPath: String, if mayGo: () -> Bool) throws(JournalError) {
    if let file = try opened() {
      defer { file.close() }
      // A process that opened it by another name may be writing; the check holds from here on.
      try lock.acquire(journal: file)
      try refuse(file)
      guard mayGo() else { return }
      try remove(location.real)
    }
    for name in try leftovers() where name != lockPath { try remove(name) }
    try synchronizeFolder()
    try remove(lockPath)
    try synchronizeFolder()
  }

  /// Refuses something that is no journal before a lock file is made next to it.
  func refuseOthers() throws(JournalError) {
    guard let file = try opened() else { return }
    defer { file.close() }
    try refuse(file)
  }

  /// Returns the paths of kept tails and quarantined journals.
  func kept() throws(JournalError) -> [String] {
    let passing = Self.passing.map { location.real + $0 }
    return try leftovers().filter { !passing.contains($0) }
  }

  /// Returns the paths of all files next to the journal that belong to it, including the lock file.
  func leftovers() throws(JournalError) -> [String] {
    let cut = location.real.lastIndex(of: "/").map { location.real.index(after: $0) }
    let start = cut ?? location.real.startIndex
    let own = location.real[start...]
    let names: [String]
    do throws(SystemFault) {
      names = try fileSystem.names(beside: location.real)
    } catch {
      throw error.isMissing ? .folderMissing(path: path) : error.error(at: path)
    }
    return names.filter { name in
      guard name.hasPrefix(own) else { return false }
      let rest = name.dropFirst(own.count)
      return Self.passing.contains { rest == $0 } || Self.isKeptTail(rest)
        || SetAsideJournal(path: name, rest: rest) != nil
    }.map { location.real[..<start] + $0 }
  }

  /// The suffixes of files that hold no content of the journal.
  private static let passing = [FileSuffix.draft, .lock, .alive, .staged, .moved].map(\.rawValue)

  private static func isKeptTail(_ rest: Substring) -> Bool {
    let torn = FileSuffix.torn.rawValue
    guard rest.hasPrefix(torn) else { return false }
    let numbers = rest.dropFirst(torn.count).split(separator: "-", omittingEmptySubsequences: false)
    return numbers.count == 2
      && numbers.allSatisfy { number in
        !number.isEmpty && number.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      }
  }

  private func opened() throws(JournalError) -> (any JournalFileHandle)? {
    do throws(SystemFault) {
      return try fileSystem.open(location.real, for: .writing)
    } catch {
      guard error.isMissing else { throw error.error(at: path) }
      return nil
    }
  }

  private func refuse(_ file: any JournalFileHandle) throws(JournalError) {
    let links = try onFile(path) { () throws(SystemFault) in try file.status().links }
    guard links <= 1 else { throw .hardLinked(path: path, links: links) }
    let bytes = try onFile(path) { () throws(SystemFault) in
      try file.bytes(JournalHeader.size, at: 0)
    }
    // A damaged, empty or newer journal may be removed: the caller asked for it.
    guard JournalHeader.read(bytes) != .notAJournal else { throw .notAJournal(path: path) }
  }

  func remove(_ name: String) throws(JournalError) {
    do throws(SystemFault) {
      try fileSystem.remove(name)
    } catch {
      if error.isMissing { return }
      throw error.isDenied ? .readOnlyFolder(path: path) : error.error(at: name)
    }
  }

  func synchronizeFolder() throws(JournalError) {
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.synchronizeFolder(of: location.real)
    }
  }
}
