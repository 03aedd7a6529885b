/// The new place of a journal that moves, under the lock of that place.
///
/// A copy is staged under another name first. No reader takes it for a journal until it is put in place.
package struct JournalDestination {
  private let location: JournalLocation
  private let fileSystem: any JournalFileSystem
  private var lock: LockFile

  private var staged: String { location.real + FileSuffix.staged.rawValue }

  /// Takes the lock of the place; throws `busy` and the errors of a path that leads to no file.
  package init(_ path: String, options: JournalOptions) throws(JournalError) {
    fileSystem = options.fileSystem
    location = try JournalLocation.find(path, fileSystem)
    lock = LockFile(
      beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    try lock.acquire()
  }

  package mutating func release() { lock.close() }

  /// Whether a whole copy is staged.
  package func isStaged() throws(JournalError) -> Bool {
    try onFile(location.given) { () throws(SystemFault) in try exists(staged) }
  }

  /// Stages a copy of the journal at `source`, durably; the caller holds that journal's lock too.
  package func stage(_ source: String) throws(JournalError) {
    try onFile(location.given) { () throws(SystemFault) in
      let draft = DraftFile(location: location, fileSystem: fileSystem)
      let original = try fileSystem.open(source, for: .reading)
      defer { original.close() }
      let copy = try draft.create()
      defer { copy.close() }
      do throws(SystemFault) {
        let size = try original.status().size
        var offset: UInt64 = 0
        while offset < size {
          let bytes = try original.bytes(Int(min(size - offset, 1 << 20)), at: offset)
          guard !bytes.isEmpty else { break }
          try copy.writeAll(bytes, at: offset)
          offset += UInt64(bytes.count)
        }
        try copy.synchronize()
        try fileSystem.rename(draft.path, to: staged)
        try fileSystem.synchronizeFolder(of: location.real)
      } catch {
        draft.discard(copy)
        throw error
      }
    }
  }

  /// Gives the staged copy the journal's name, durably; a journal that has the name is replaced.
  package func putInPlace() throws(JournalError) {
    try onFile(location.given) { () throws(SystemFault) in
      try fileSystem.rename(staged, to: location.real)
      try fileSystem.synchronizeFolder(of: location.real)
    }
  }

  /// Removes a staged copy that is not needed.
  package func discard() throws(JournalError) {
    try onFile(location.given) { () throws(SystemFault) in try remove(staged) }
  }

  private func exists(_ path: String) throws(SystemFault) -> Bool {
    do throws(SystemFault) { _ = try fileSystem.status(of: path) } catch {
      guard error.isMissing else { throw error }
      return false
    }
    return true
  }

  private func remove(_ path: String) throws(SystemFault) {
    do throws(SystemFault) { try fileSystem.remove(path) } catch {
      guard error.isMissing else { throw error }
    }
  }
}

extension Journal {
  /// Whether a move away from `path` was finished; asked without a lock.
  package static func hasMoved(from path: String, options: JournalOptions) -> Bool {
    do throws(SystemFault) {
      _ = try options.fileSystem.status(of: path + FileSuffix.moved.rawValue)
      return true
    } catch {
      // The journal itself tells, so a wrong answer costs only its reading.
      return false
    }
  }

  /// Notes that a move away from `path` is finished, or, if it is false, that the journal is back.
  package static func note(hasMoved: Bool, from path: String, options: JournalOptions)
    throws(JournalError)
  {
    let mark = path + FileSuffix.moved.rawValue
    try onFile(path) { () throws(SystemFault) in
      do throws(SystemFault) {
        if hasMoved {
          try options.fileSystem.open(mark, for: .creatingOnly).close()
        } else {
          try options.fileSystem.remove(mark)
        }
      } catch {
        guard hasMoved ? error.isAlreadyThere : error.isMissing else { throw error }
        return
      }
      try options.fileSystem.synchronizeFolder(of: path)
    }
  }
}
