/// Brings a new journal file into being, whole or not at all.
struct JournalBirth {
  let path: String
  let fileSystem: any JournalFileSystem

  /// Creates the file with its header, durably.
  ///
  /// The caller holds the lock and has seen that nothing
  /// stands at the path, so nothing of another creator is replaced.
  func create(_ header: JournalHeader) throws(JournalError) {
    let draft = path + ".new"
    do throws(SystemFault) {
      let file = try newFile(draft)
      defer { file.close() }
      try file.writeAll(header.encoded, at: 0)
      try file.synchronize()
      try fileSystem.rename(draft, to: path)
      try fileSystem.synchronizeFolder(of: path)
    } catch {
      if error.isDenied { throw .readOnlyFolder(path: path) }
      if error.isMissing { throw .folderMissing(path: path) }
      throw error.error(at: path)
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
