/// Brings a new journal file into being, whole or not at all.
struct JournalBirth {
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  /// Creates the file with its header, durably.
  ///
  /// The caller holds the lock and has seen that nothing
  /// stands at the path, so nothing of another creator is replaced.
  func create(_ header: JournalHeader) throws(JournalError) {
    do throws(SystemFault) {
      try putInPlace(header)
      try fileSystem.synchronizeFolder(of: location.real)
    } catch {
      if error.isDenied { throw .readOnlyFolder(path: location.given) }
      if error.isMissing { throw .folderMissing(path: location.given) }
      throw error.error(at: location.given).ofCreation(at: location.given)
    }
  }

  private func putInPlace(_ header: JournalHeader) throws(SystemFault) {
    let draft = location.real + ".new"
    let file = try newFile(draft)
    defer { file.close() }
    do throws(SystemFault) {
      try file.writeAll(header.encoded, at: 0)
      try file.synchronize()
      try fileSystem.rename(draft, to: location.real)
    } catch {
      let fault = error
      do throws(SystemFault) {
        try fileSystem.remove(draft)
      } catch {
        // The first fault says more, and the next creation removes what is left.
      }
      throw fault
    }
  }

  /// A file that nobody else has; what an interrupted creation left in its place is removed.
  private func newFile(_ draft: String) throws(SystemFault) -> any JournalFileHandle {
    do throws(SystemFault) {
      return try fileSystem.open(draft, for: .creatingOnly)
    } catch {
      guard error.isAlreadyThere else { throw error }
      try fileSystem.remove(draft)
      return try fileSystem.open(draft, for: .creatingOnly)
    }
  }
}

extension JournalError {
  /// The same error of a journal that did not exist before.
  func ofCreation(at path: String) -> JournalError {
    if case .diskFull = self { return .noRoomToCreate(path: path) }
    return self
  }
}
