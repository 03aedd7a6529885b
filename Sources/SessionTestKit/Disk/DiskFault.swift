#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// What can go wrong with one call on a simulated disk.
///
/// A fault that a call cannot have, such as a short write of a rename, does nothing.
///
/// - Requirement: TST-2
public enum DiskFault: Equatable, Sendable {
  /// EIO; nothing is done. On a sync: as `failedSync` that wrote nothing.
  case inputOutput

  /// ENOSPC; nothing is done. On a sync: as `failedSync` that wrote nothing.
  case noSpace

  /// EINTR; nothing is done, and nothing is lost.
  case interrupted

  /// A write that takes only so many bytes, at least one, and says so.
  case shortWrite(Int)

  /// A sync that fails with EIO and gives up what it did not write: no later sync will write it.
  ///
  /// The bits of `written` say which unsynced sectors, in order and modulo 64, still were. What was
  /// given up stays visible, as on ext4, until the power fails; `evicting`: it is gone at once, as on btrfs.
  case failedSync(written: UInt64, evicting: Bool)

  /// A write of which one bit, counted modulo its bits, arrives as the opposite; nobody is told.
  case flippedBit(Int)

  /// The process dies in the call; a write still puts in so many of its bytes.
  case death(afterBytes: Int)

  /// The errno that the call fails with; nil if it does not fail by this alone.
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

/// Where faults come from.
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
