public import SessionJournal
public import SessionKit

/// Why a journal could not be moved.
public enum MigrationError: Error, Equatable, Sendable {
  /// The key has the log of another journal already.
  case keyInUse(name: String)
  /// The journal was moved before, to the log of that name.
  case alreadyMoved(name: String)
  /// A session commits to the file now.
  case inUse(path: String)
  /// The file does not end cleanly.
  case notWhole(path: String)
  /// The answer to the commit was lost, so it is unknown whether the journal was moved.
  case uncertain(name: String)
  /// The store for the secrets is that of another key, or of another database object.
  case otherStore(name: String, store: String)
  /// The secrets could not be read or written.
  case secrets(SecretStoreError)
  /// The journal or the log could not be read or written.
  case log(JournalError)
  /// The output could not be written; the code is its errno.
  case output(path: String, code: Int32)
}

extension MigrationError: CustomStringConvertible {
  /// Says what happened, the consequence and the next step.
  public var description: String {
    switch self {
    case .keyInUse(let name):
      "There is a log at \(name) already. Nothing was changed. Choose another key, or delete that log "
        + "first."
    case .alreadyMoved(let name):
      "This journal was moved before, to \(name). Nothing was changed. Open that log, and do not open "
        + "the file again: both would use one refresh token. If the log shall have another key, delete "
        + "it first."
    case .inUse(let path):
      "A session commits to \(path) now. Nothing was changed. Close all sessions of the file, and try "
        + "again."
    case .notWhole(let path):
      "\(path) does not end cleanly, so a part of it would be lost. Nothing was changed. Run: "
        + "sessionreplay verify \(path)"
    case .uncertain(let name):
      "The connection was lost before the server answered, so it is not known whether the journal was "
        + "moved to \(name). Do not open the file. Import it again when the server answers: the result "
        + "is either a move, or an error that says that it was moved before."
    case .otherStore(let name, let store):
      "The store at \(store) is not that of \(name), so the secrets would not move in one transaction "
        + "with their journal. Nothing was changed. Give the store the key and the database object of "
        + "that log."
    case .secrets(let error): "\(error) No journal was moved."
    case .log(let error): "\(error) No journal was moved."
    case .output(let path, let code):
      "\(path) cannot be written (errno \(code)). The log in the database is unchanged. Choose a new "
        + "file in a folder with space."
    }
  }
}
