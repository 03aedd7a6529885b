/// The file next to a journal in which a new one is made, before it takes the journal's name.
///
/// Touched only under the journal's lock. Without the lock file, another process may use a draft
/// too. So its identity is checked before it is renamed or removed.
struct DraftFile {
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  var path: String { location.real + FileSuffix.draft.rawValue }

  /// Creates an empty draft; removes what an interrupted creation or compaction left.
  func create() throws(SystemFault) -> any JournalFileHandle {
    do throws(SystemFault) {
      return try fileSystem.open(path, for: .creatingOnly)
    } catch {
      guard error.isAlreadyThere else { throw error }
      try fileSystem.remove(path)
      return try fileSystem.open(path, for: .creatingOnly)
    }
  }

  /// Renames the draft to the journal's name; `identity` is that of the file that was created.
  ///
  /// If the lock file was removed, another process may be writing an incomplete draft of the same
  /// name.
  func putInPlace(_ identity: FileStatus.Identity) throws(SystemFault) {
    guard try fileSystem.status(of: path).identity == identity else { throw .isExchanged }
    try fileSystem.rename(path, to: location.real)
  }

  /// Removes the draft after an error; a draft of another process stays.
  func discard(_ file: any JournalFileHandle) {
    do throws(SystemFault) {
      let mine = try file.status().identity
      guard try fileSystem.status(of: path).identity == mine else { return }
      try fileSystem.remove(path)
    } catch {
      // The first error says more, and the next opening removes what is left.
    }
  }

  /// Removes what an interrupted creation or compaction left, if this process may.
  func removeLeftover() {
    do throws(SystemFault) {
      try fileSystem.remove(path)
    } catch {
      // Usually there is none. One that cannot be removed prevents no reading or appending. The
      // error appears when a new draft is created.
    }
  }
}
