/// The system calls that a journal makes, so that a test can stand in for the system.
package protocol JournalFileSystem: Sendable {
  /// Opens a file that exists; never waits for the other end of a pipe.
  func open(_ path: String, for access: FileAccess) throws(SystemFault)
    -> any JournalFileHandle

  /// What stands at a path, links followed.
  func status(of path: String) throws(SystemFault) -> FileStatus

  /// The absolute path of what stands at a path, free of links.
  func realPath(of path: String) throws(SystemFault) -> String

  /// Whether a symbolic link stands at a path, wherever it leads.
  func isLink(_ path: String) throws(SystemFault) -> Bool

  /// What the symbolic link at a path holds: a path, relative to the link's folder or absolute.
  func target(ofLink path: String) throws(SystemFault) -> String

  /// The names of what stands in the folder of `path`, in any order.
  func names(beside path: String) throws(SystemFault) -> [String]
  func rename(_ path: String, to newPath: String) throws(SystemFault)
  func remove(_ path: String) throws(SystemFault)

  /// The folder of `path`, open.
  func openFolder(of path: String) throws(SystemFault) -> any JournalFolder

  /// This process's turn at the lock file with that path.
  func turn(at path: String) -> ProcessTurn

  /// Tells of changes of the file at a path; nil where nobody can.
  func changes(of path: String) -> FileChanges?

  /// Time that never runs backwards, in nanoseconds from an arbitrary beginning.
  func uptime() -> UInt64
  func pause(nanoseconds: UInt64)

  /// A number that no other file has as its salt.
  func newSalt() -> UInt64

  /// The number of the user whom new files belong to.
  var user: UInt32 { get }
}

extension JournalFileSystem {
  /// Makes the names in the folder of `path` durable.
  package func synchronizeFolder(of path: String) throws(SystemFault) {
    try openFolder(of: path).synchronize()
  }

  /// The owner of files that say nothing of theirs.
  package var user: UInt32 { 0 }

  /// A random number.
  package func newSalt() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}

/// One open folder: who renames in it has it open before, so that nothing is missing behind that.
package protocol JournalFolder: AnyObject, Sendable {
  /// Makes its names durable.
  func synchronize() throws(SystemFault)
}

/// One open file.
package protocol JournalFileHandle: AnyObject, Sendable {
  func status() throws(SystemFault) -> FileStatus

  /// Reads up to the length of `buffer`; fewer bytes only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int

  /// Writes some of `bytes`, at least one, and says how many.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int
  func truncate(to size: UInt64) throws(SystemFault)

  /// Makes data, and the size that is needed to read it, durable.
  func synchronizeData() throws(SystemFault)

  /// Makes data and everything about the file durable.
  func synchronize() throws(SystemFault)

  /// The first offset at or behind `offset` that may hold data; nil if only a hole is left.
  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64?

  /// Takes all rights to the file from everybody but its owner.
  func makePrivate() throws(SystemFault)

  /// Takes the file's exclusive lock, if nobody else has it.
  func tryLock() throws(SystemFault) -> Bool
  func unlock() throws(SystemFault)
  func close()
}

/// How a file is opened.
package enum FileAccess: Equatable, Sendable {
  case reading
  case writing
  /// For writing; created with mode 0600 if it is missing.
  case creating
  /// For writing; created with mode 0600, and refused if it exists.
  case creatingOnly
}

/// What the system says of a file.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case file
    case folder
    case other
  }

  package struct Identity: Equatable, Sendable {
    package let device: UInt64
    package let number: UInt64

    package init(device: UInt64, number: UInt64) {
      self.device = device
      self.number = number
    }
  }

  package let kind: Kind
  package let size: UInt64
  package let identity: Identity

  /// How many names it has; more than one with hard links.
  package let links: UInt64

  /// The number of the user it belongs to.
  package let owner: UInt32

  package init(
    kind: Kind, size: UInt64, identity: Identity, links: UInt64 = 1, owner: UInt32 = 0
  ) {
    self.kind = kind
    self.size = size
    self.identity = identity
    self.links = links
    self.owner = owner
  }
}

/// A system call that failed.
package struct SystemFault: Error, Equatable, Sendable {
  package let operation: String
  package let code: Int32

  package init(_ operation: String, code: Int32) {
    self.operation = operation
    self.code = code
  }
}
