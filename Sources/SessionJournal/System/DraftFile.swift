/// The file beside a journal in which a new one is made before it takes the journal's name.
///
/// Touched only under the journal's lock, so nobody else is at work on it, unless somebody removed the
/// lock file: then it is looked at whose it is.
struct DraftFile {
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  var path: String { location.real + FileSuffix.draft.rawValue }

  /// A file that nobody else has; what an interrupted creation or compaction left is removed.
  func create() throws(SystemFault) -> any JournalFileHandle {
    do throws(SystemFault) {
      return try fileSystem.open(path, for: .creatingOnly)
    } catch {
      guard error.isAlreadyThere else { throw error }
      try fileSystem.remove(path)
      return try fileSystem.open(path, for: .creatingOnly)
    }
  }

  /// Gives it the journal's name; `identity` is what it was when it was made.
  ///
  /// Where the lock file was removed, somebody else may be making theirs: it is not whole yet.
  func putInPlace(_ identity: FileStatus.Identity) throws(SystemFault) {
    guard try fileSystem.status(of: path).identity == identity else { throw .isExchanged }
    try fileSystem.rename(path, to: location.real)
  }

  /// Removes it after something failed; somebody else's of the same name stays.
  func discard(_ file: any JournalFileHandle) {
    do throws(SystemFault) {
      let mine = try file.status().identity
      guard try fileSystem.status(of: path).identity == mine else { return }
      try fileSystem.remove(path)
    } catch {
      // The first fault says more, and the next opening removes what is left.
    }
  }

  /// Removes what an interrupted creation or compaction left, where this process may.
  func removeLeftover() {
    do throws(SystemFault) {
      try fileSystem.remove(path)
    } catch {
      // Mostly there is none. One that cannot be removed keeps nobody from reading and appending, and
      // is told of where a new one is to be made.
    }
  }
}
