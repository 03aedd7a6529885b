#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A fault of one call on a simulated disk.
///
/// A fault that does not fit the call, such as a short write of a rename, has no effect.
///
/// - Requirement: TST-2
public enum DiskFault: Equatable, Sendable {
  /// The call fails with EIO and does nothing.
  ///
  /// A sync fails like `failedSync` that wrote nothing.
  case inputOutput

  /// The call fails with ENOSPC and does nothing.
  ///
  /// A sync fails like `failedSync` that wrote nothing.
  case noSpace

  /// The call fails with EINTR and does nothing; nothing is lost.
  case interrupted

  /// A write that writes only this number of bytes, at least one, and returns it.
  case shortWrite(Int)

  /// A sync that fails with EIO and drops the data that it did not write; no later sync writes it.
  ///
  /// The bits of `written` select the unsynced sectors, in order and modulo 64, that are written.
  /// With `evicting`, the dropped data is lost at once, as on btrfs. Otherwise it stays visible
  /// until the power fails, as on ext4.
  case failedSync(written: UInt64, evicting: Bool)

  /// A write that inverts one bit, counted modulo the bits written, and reports success.
  case flippedBit(Int)

  /// The process dies in the call; a write still writes this number of bytes.
  case death(afterBytes: Int)

  /// The errno of the failed call; `nil` if this fault does not make the call fail.
  var code: Int32? {
    switch self {
    case .inputOutput, .failedSync, .death: EIO
    case .noSpace: ENOSPC
    case .interrupted: EINTR
    case .shortWrite, .flippedBit: nil
    }
  }

  func applies(to operation: DiskOperation) -> Bool {
    switch self {
    case .inputOutput, .interrupted, .death: true
    case .noSpace: operation.needsRoom
    case .shortWrite, .flippedBit: operation == .write
    case .failedSync: operation == .synchronizeData || operation == .synchronize
    }
  }
}

/// The faults that are planned for a disk: by number, by operation, or at random.
struct FaultPlan: Sendable {
  private var script: [Int: DiskFault] = [:]
  private var next: [DiskOperation: DiskFault] = [:]
  private var chance: (choices: Choices, oneIn: UInt64)?

  mutating func add(_ fault: DiskFault, atCall number: Int) {
    script[number] = fault
  }

  mutating func add(_ fault: DiskFault, atNext operation: DiskOperation) {
    next[operation] = fault
  }

  mutating func draw(from choices: Choices, oneIn: UInt64) {
    chance = oneIn == 0 ? nil : (choices, oneIn)
  }

  mutating func clear() {
    (script, next) = ([:], [:])
    chance = nil
  }

  mutating func fault(atCall number: Int, _ operation: DiskOperation, bytes: Int) -> DiskFault? {
    if !next.isEmpty, let fault = next.removeValue(forKey: operation),
      fault.applies(to: operation)
    {
      return fault
    }
    if !script.isEmpty, let fault = script.removeValue(forKey: number),
      fault.applies(to: operation)
    {
      return fault
    }
    guard let chance, chance.choices.chance(1, in: chance.oneIn) else { return nil }
    return Self.draw(chance.choices, operation, bytes: bytes)
  }

  private static func draw(_ choices: Choices, _ operation: DiskOperation, bytes: Int)
    -> DiskFault?
  {
    switch operation {
    case .write:
      switch choices.draw(below: 4) {
      case 0: .shortWrite(choices.draw(in: 1...max(1, bytes)))
      case 1: .noSpace
      case 2: .inputOutput
      default: .death(afterBytes: choices.draw(in: 0...max(0, bytes)))
      }
    case .synchronizeData, .synchronize:
      switch choices.draw(below: 3) {
      case 0:
        .failedSync(written: choices.draw(below: .max), evicting: choices.chance(1, in: 2))
      case 1: .interrupted
      default: .death(afterBytes: 0)
      }
    default:
      choices.pick([.inputOutput, .interrupted, .death(afterBytes: 0)])
    }
  }
}

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
