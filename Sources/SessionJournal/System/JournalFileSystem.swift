/// The system calls that a journal makes; tests replace them.
package protocol JournalFileSystem: Sendable {
  /// Opens a file; never waits for the other end of a pipe.
  func open(_ path: String, for access: FileAccess) throws(SystemFault)
    -> any JournalFileHandle

  /// Returns the status of what is at a path, links followed.
  func status(of path: String) throws(SystemFault) -> FileStatus

  /// Returns the absolute path without links of what is at a path.
  func realPath(of path: String) throws(SystemFault) -> String

  /// Whether a symbolic link is at a path, with or without a target.
  func isLink(_ path: String) throws(SystemFault) -> Bool

  /// Returns the content of the symbolic link at a path: a path, absolute or relative to its
  /// folder.
  func target(ofLink path: String) throws(SystemFault) -> String

  /// Returns the names in the folder of `path`, in any order.
  func names(beside path: String) throws(SystemFault) -> [String]
  func rename(_ path: String, to newPath: String) throws(SystemFault)
  func remove(_ path: String) throws(SystemFault)

  /// Opens the folder of `path`.
  func openFolder(of path: String) throws(SystemFault) -> any JournalFolder

  /// Returns this process's turn at the lock file with that path.
  func turn(at path: String) -> ProcessTurn

  /// The lock files that stay open between two commits.
  var openLockFiles: OpenFileBudget { get }

  /// Watches the file at a path; nil if changes cannot be reported.
  func changes(of path: String) -> FileChanges?

  /// Returns a time that never runs backwards, in nanoseconds from an arbitrary beginning.
  func uptime() -> UInt64
  func pause(nanoseconds: UInt64)

  /// Returns a salt that no other file has.
  func newSalt() -> UInt64

  /// The number of the user to whom new files belong.
  var user: UInt32 { get }
}

extension JournalFileSystem {
  /// Makes the names in the folder of `path` durable.
  package func synchronizeFolder(of path: String) throws(SystemFault) {
    try openFolder(of: path).synchronize()
  }

  /// No limit: each journal keeps its lock file open.
  package var openLockFiles: OpenFileBudget { .unlimited }

  /// The default owner, in file systems without users.
  package var user: UInt32 { 0 }

  /// Returns a random number.
  package func newSalt() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}

/// An open folder.
///
/// It is opened before a rename, so that its sync afterwards cannot fail for want of rights or
/// descriptors.
package protocol JournalFolder: AnyObject, Sendable {
  /// Makes its names durable.
  func synchronize() throws(SystemFault)
}

/// An open file.
package protocol JournalFileHandle: AnyObject, Sendable {
  func status() throws(SystemFault) -> FileStatus

  /// Reads up to the length of `buffer`; fewer bytes only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int

  /// Writes at least one of `bytes`; returns how many.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int
  func truncate(to size: UInt64) throws(SystemFault)

  /// Makes the data durable, and the size that is needed to read it.
  func synchronizeData() throws(SystemFault)

  /// Makes the data and all metadata of the file durable.
  func synchronize() throws(SystemFault)

  /// Returns the first offset from `offset` on that may hold data; nil if only a hole is left.
  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64?

  /// Removes all rights of everyone except the owner.
  func makePrivate() throws(SystemFault)

  /// Whether systems or processes may write to the file that do not share this system's locks.
  var isShared: Bool { get }

  /// Lets the next read see what was written past this system's cache of a shared file.
  func forgetCache()

  /// Takes the file's exclusive lock; false if another open file has it.
  func tryLock() throws(SystemFault) -> Bool
  func unlock() throws(SystemFault)
  func close()
}

extension JournalFileHandle {
  package var isShared: Bool { false }
  package func forgetCache() {}
}

/// A file of which readers need bytes only: part of a file, or bytes in memory.
package protocol ReadOnlyFile: JournalFileHandle {}

extension ReadOnlyFile {
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int
  {
    throw .readOnly("write")
  }

  package func truncate(to size: UInt64) throws(SystemFault) { throw .readOnly("truncate") }
  package func synchronizeData() throws(SystemFault) { throw .readOnly("sync") }
  package func synchronize() throws(SystemFault) { throw .readOnly("sync") }
  package func makePrivate() throws(SystemFault) { throw .readOnly("protect") }
  package func tryLock() throws(SystemFault) -> Bool { throw .readOnly("lock") }
  package func unlock() throws(SystemFault) { throw .readOnly("unlock") }
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

/// What the system reports about a file.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case file
    case folder
    case other
  }

  package struct Identity: Hashable, Sendable {
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

  /// The number of its names; more than one with hard links.
  package let links: UInt64

  /// The number of the user to whom it belongs.
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

/// Runs system calls on the file at `path`, and maps a fault to an error of the journal.
@inline(__always)
func onFile<Value: ~Copyable>(_ path: String, _ calls: () throws(SystemFault) -> Value)
  throws(JournalError) -> Value
{
  do throws(SystemFault) {
    return try calls()
  } catch {
    throw error.error(at: path)
  }
}

extension JournalFileHandle {
  /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
  func bytes(_ count: Int, at offset: UInt64) throws(SystemFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes { buffer in
      do throws(SystemFault) {
        return Result<Int, SystemFault>.success(try read(into: buffer, at: offset))
      } catch {
        return .failure(error)
      }
    }
    bytes.removeLast(count - (try got.get()))
    return bytes
  }

  /// Reads into an array, from its element `start` on; returns how many bytes were read.
  ///
  /// There are fewer than the array has room for only at the end of the file.
  func read(
    into bytes: inout ContiguousArray<UInt8>, from start: Int = 0, at offset: UInt64
  ) throws(SystemFault) -> Int {
    try bytes.withUnsafeMutableBytes { bytes in
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
      do throws(SystemFault) {
        return Result<Int, SystemFault>.success(try read(into: rest, at: offset))
      } catch {
        return .failure(error)
      }
    }.get()
  }

  /// Writes all of `bytes`, with as many calls as that takes.
  package func writeAll(_ bytes: [UInt8], at offset: UInt64) throws(SystemFault) {
    if let fault = writeSome(bytes, at: offset).fault { throw fault }
  }

  /// Writes all of `bytes`, or as many as possible before a fault; returns both.
  func writeSome(_ bytes: [UInt8], at offset: UInt64) -> (count: Int, fault: SystemFault?) {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      do throws(SystemFault) {
        while done < buffer.count {
          let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
          done += try write(rest, at: offset + UInt64(done))
        }
        return (done, nil)
      } catch {
        return (done, error)
      }
    }
  }
}
