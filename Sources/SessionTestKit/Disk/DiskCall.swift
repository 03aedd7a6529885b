/// The calls that a journal makes on a disk.
package enum DiskOperation: String, Sendable, CaseIterable {
  /// Opens a file for reading.
  case open
  /// Opens a file for reading and writing.
  case openForWriting
  /// Opens a file for reading and writing, and creates it if it is missing.
  case create
  /// Creates a file that must not exist.
  case createOnly
  /// Asks what is at a path.
  case inspectPath
  /// Asks for the size and identity of an open file.
  case inspect
  /// Asks for the names in a folder.
  case list
  /// Renames a file.
  case rename
  /// Removes a name.
  case remove
  /// Makes the names of a folder durable.
  case synchronizeFolder
  /// Reads bytes.
  case read
  /// Writes bytes.
  case write
  /// Changes the size of a file.
  case truncate
  /// Makes data and size durable.
  case synchronizeData
  /// Makes everything about a file durable.
  case synchronize
  /// Asks for the next byte that may not be zero.
  case nextData
  /// Tries to take the lock.
  case lock
  /// Releases the lock.
  case unlock

  /// The name of the operation in the journal's errors.
  var errorName: String {
    switch self {
    case .open, .openForWriting, .create, .createOnly: "open"
    case .inspect, .inspectPath: "inspect"
    case .synchronize, .synchronizeData, .synchronizeFolder: "sync"
    case .nextData: "read"
    default: rawValue
    }
  }

  var needsRoom: Bool {
    switch self {
    case .write, .create, .createOnly, .rename, .synchronize, .synchronizeData, .synchronizeFolder:
      true
    default: false
    }
  }
}

/// One call that a process made on a simulated disk.
package struct DiskCall: Equatable, Sendable, CustomStringConvertible {
  /// The number of the call on this disk, from 0; `SimulatedDisk.fail(atCall:with:)` uses the same
  /// numbers.
  package let number: Int

  /// The number of the calling process, from 0, in order of creation.
  package let process: Int

  /// The operation that was requested.
  package let operation: DiskOperation

  /// The file's number on the disk; −1 if there is none.
  package internal(set) var file: Int

  /// The first byte, or the size of a truncation; 0 for other operations.
  package let offset: Int

  /// The number of requested bytes; 0 for operations without bytes.
  package let bytes: Int

  /// The fault of this call; `nil` if there was none.
  package let fault: DiskFault?

  /// A line such as `#12 p0 write file 1 at 64, 40 bytes`.
  package var description: String {
    var text = "#\(number) p\(process) \(operation.rawValue)"
    if file >= 0 { text += " file \(file)" }
    switch operation {
    case .read, .write: text += " at \(offset), \(bytes) bytes"
    case .truncate: text += " to \(offset)"
    default: break
    }
    if let fault { text += " ← \(fault)" }
    return text
  }
}
