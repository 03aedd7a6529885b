extension Journal {
  /// Removes the journal at `path` and everything beside it that is its own.
  ///
  /// That is the file, what an interrupted creation or compaction left, the tails and the unusable
  /// journals that were kept aside, the file of the openings that live, and at last the lock file;
  /// durably when the call returns. Interrupted, it may be called
  /// again: what is left is removed, whether or not the file itself still stands. A link that leads
  /// to it stays. Whoever has it open gets `missing` from then on, and may leave an empty lock file.
  ///
  /// Throws `missing` if nothing of it is there, `notAJournal` if something else stands there,
  /// `hardLinked` if it would go on under another name, `busy`, `io`, `permissionDenied`,
  /// `readOnlyFolder` and the errors of a path that leads to no file.
  ///
  /// - Requirement: JRN-1
  public static func delete(at path: String, options: Options = Options()) throws(JournalError) {
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
    try deletion.run(lock, lockPath: lock.path)
  }

  /// Removes what is kept beside the journal at `path` of what it held once.
  ///
  /// That is tails that were cut off, and journals that were set aside from its place; durably when the call
  /// returns. The journal stays.
  /// Throws `missing` where no journal is there, and what `delete` throws.
  package static func deleteKept(at path: String, options: Options = Options())
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

/// Removes what belongs to one journal, under its lock.
private struct JournalDeletion {
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  private var path: String { location.given }

  func run(_ lock: LockFile, lockPath: String) throws(JournalError) {
    if let file = try opened() {
      defer { file.close() }
      // Somebody who came by another name may be writing; the check holds from here on.
      try lock.acquire(journal: file)
      try refuse(file)
      try remove(location.real)
    }
    for name in try leftovers() where name != lockPath { try remove(name) }
    try synchronizeFolder()
    try remove(lockPath)
    try synchronizeFolder()
  }

  /// Looks before a lock file is made beside something that is no journal.
  func refuseOthers() throws(JournalError) {
    guard let file = try opened() else { return }
    defer { file.close() }
    try refuse(file)
  }

  /// The paths of what is kept beside the journal of what it held once.
  func kept() throws(JournalError) -> [String] {
    let passing = Self.passing.map { location.real + $0 }
    return try leftovers().filter { !passing.contains($0) }
  }

  /// The paths of what stands beside the journal and is its own, the lock file among them.
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

  /// The suffixes of files that hold nothing of the journal.
  private static let passing = [FileSuffix.draft, .lock, .alive].map(\.rawValue)

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
    // One that is damaged, empty or of a later version is a journal that somebody wants gone.
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
