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
  /// Asks what stands at a path.
  case inspectPath
  /// Asks for the size and identity of an open file.
  case inspect
  /// Asks for the names in a folder.
  case list
  /// Gives a file another name.
  case rename
  /// Takes a name away.
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
  /// Asks where the next byte is that may not be zero.
  case nextData
  /// Tries to take the lock.
  case lock
  /// Gives the lock back.
  case unlock

  /// The name that the journal's errors give it.
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
  /// Its number on this disk, from 0; what `SimulatedDisk.fail(atCall:with:)` counts by.
  package let number: Int

  /// The process that called, by the number of its making.
  package let process: Int

  /// What was asked.
  package let operation: DiskOperation

  /// The file's number on the disk; −1 where there is none.
  package internal(set) var file: Int

  /// The first byte, or the size of a truncation; 0 where it means nothing.
  package let offset: Int

  /// The bytes asked for; 0 where it means nothing.
  package let bytes: Int

  /// The fault that struck it; nil if none did.
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
