/// The creation of a journal file, whole or not at all.
struct JournalCreation {
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  /// Creates the file with its header, durably.
  ///
  /// The caller holds the lock and has seen that nothing is at the path. This is checked again
  /// before the rename, since another process may have removed the lock file.
  func create(_ header: JournalHeader) throws(JournalError) {
    do throws(SystemFault) {
      let folder = try fileSystem.openFolder(of: location.real)
      try putInPlace(header)
      try folder.synchronize()
    } catch {
      if error.isDenied { throw .readOnlyFolder(path: location.given) }
      if error.isMissing { throw .folderMissing(path: location.given) }
      throw error.error(at: location.given).ofCreation(at: location.given)
    }
  }

  private func isThere() throws(SystemFault) -> Bool {
    do throws(SystemFault) {
      _ = try fileSystem.status(of: location.real)
      return true
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }

  private func putInPlace(_ header: JournalHeader) throws(SystemFault) {
    let draft = DraftFile(location: location, fileSystem: fileSystem)
    let file = try draft.create()
    defer { file.close() }
    do throws(SystemFault) {
      try file.writeAll(header.encoded, at: 0)
      try file.synchronize()
      guard try !isThere() else { throw .isExchanged }
      try draft.putInPlace(file.status().identity)
    } catch {
      draft.discard(file)
      throw error
    }
  }
}

extension JournalError {
  /// Returns the same error for a journal that did not exist before.
  func ofCreation(at path: String) -> JournalError {
    if case .diskFull = self { return .noRoomToCreate(path: path) }
    return self
  }
}
