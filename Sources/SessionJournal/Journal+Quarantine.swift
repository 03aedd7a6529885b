extension Journal {
  /// Returns the identity of the file at `path`; nil if there is none.
  package static func identity(at path: String, options: JournalOptions) throws(JournalError)
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
    options: JournalOptions
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
      let known = try SetAsideJournal.last(beside: location, fileSystem)
      let aside = SetAsideJournal(
        of: location.real, number: (known?.number ?? 0) + 1, reason: reason, time: time)
      let folder = try fileSystem.openFolder(of: location.real)
      // Nothing is written before the rename. A process that is killed after it leaves no journal,
      // and the next opening finds this file and continues from there. So there is one procedure
      // only.
      try fileSystem.rename(location.real, to: aside.path)
      try folder.synchronize()
      return aside
    }
  }

  /// Returns the last journal that was quarantined at this path; nil if there is none.
  package static func lastSetAside(at path: String, options: JournalOptions) throws(JournalError)
    -> SetAsideJournal?
  {
    let location = try JournalLocation.find(path, options.fileSystem)
    return try onFile(path) { () throws(SystemFault) in
      try SetAsideJournal.last(beside: location, options.fileSystem)
    }
  }
}
