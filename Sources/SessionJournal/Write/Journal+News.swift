extension Journal {
  /// Whether others may have appended or replaced the file since the last call of this object.
  ///
  /// Takes no lock; two system calls.
  package func hasNews() throws(JournalError) -> Bool {
    try withStore { store throws(JournalError) in try store.hasNews() }
  }
}

extension JournalStore {
  fileprivate func hasNews() throws(JournalError) -> Bool {
    try requireUsable()
    guard undelivered.isEmpty else { return true }
    guard try location.status(fileSystem).identity == scanner.identity else {
      return true
    }
    return try scanner.surroundings() != .quiet
  }
}
