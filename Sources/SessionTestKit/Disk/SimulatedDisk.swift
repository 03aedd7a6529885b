import Foundation
package import SessionJournal
internal import Synchronization

/// A disk in memory, with sectors, locks and folders, that fails like a real one when a test asks
/// for it.
///
/// A write is visible to every process at once. It survives a power cut only after its sync. Paths
/// name files in folders that all exist. If only one thread uses the disk, it is deterministic.
/// Specs/FaultModel.md describes the faults.
///
/// ```swift
/// let disk = SimulatedDisk()
/// let journal = try Journal.open(at: "/app.journal", options: .on(disk))
/// _ = try journal.append([draft])
/// disk.fail(atCall: disk.callCount + 7, with: .noSpace)
/// // … append again …
/// let after = disk.crash(choices)    // the power fails; a new disk, to be opened again
/// ```
///
/// - Requirement: TST-2
public final class SimulatedDisk: Sendable {
  /// The number of bytes that reach the medium together or not at all.
  package static let sectorSize = DiskFile.sectorSize

  let state: Mutex<DiskState>

  /// Creates an empty disk without faults.
  public convenience init() {
    self.init(DiskState())
  }

  private init(_ state: DiskState) {
    self.state = Mutex(state)
  }

  /// Creates a process, with its own handles and locks.
  public func process() -> SimulatedProcess {
    SimulatedProcess(number: state.withLock { $0.newProcess() }, disk: self)
  }

  /// The paths of all files that processes see, sorted.
  public var paths: [String] { state.withLock { $0.names.keys.sorted() } }

  /// Returns the visible content of the file at `path`; `nil` if there is none.
  public func contents(of path: String) -> [UInt8]? {
    state.withLock { state in state.names[path].map { state.files[$0].content } }
  }

  /// Returns the number of the file at `path`, as in `DiskCall.file`; `nil` if there is none.
  package func file(at path: String) -> Int? {
    state.withLock { $0.names[path] }
  }

  /// Puts a durable file with these bytes at `path`; it replaces an existing file.
  public func place(_ bytes: [UInt8], at path: String) {
    state.withLock { $0.place(bytes, at: path) }
  }

  /// Whether a power cut could lose anything.
  package var hasUnsynced: Bool { state.withLock { $0.hasUnsynced } }

  /// The number of bytes by which files may still grow before writes fail; `nil`, the default,
  /// means without limit.
  public var room: Int? {
    get { state.withLock { $0.room } }
    set { state.withLock { $0.room = newValue } }
  }
}

// MARK: - Faults

extension SimulatedDisk {
  /// The number of calls so far, which is also the number of the next call.
  public var callCount: Int { state.withLock { $0.calls } }

  /// The last calls, the oldest first; at most `traceLimit`.
  package var trace: [DiskCall] { state.withLock { $0.trace.calls } }

  /// The number of calls that the trace keeps; 4,096 by default.
  package var traceLimit: Int {
    get { state.withLock { $0.trace.limit } }
    set { state.withLock { $0.trace.limit = newValue } }
  }

  /// Makes the call with this number fail; calls of all processes on this disk are counted, from 0.
  public func fail(atCall number: Int, with fault: DiskFault) {
    state.withLock { $0.faults.add(fault, atCall: number) }
  }

  /// Makes the next call of an operation fail, regardless of its number.
  package func fail(atNext operation: DiskOperation, with fault: DiskFault) {
    state.withLock { $0.faults.add(fault, atNext: operation) }
  }

  /// Makes each later call fail with a chance of 1 in `oneIn`, by draws; 0 stops this.
  public func drawFaults(from choices: Choices, oneIn: UInt64) {
    state.withLock { $0.faults.draw(from: choices, oneIn: oneIn) }
  }

  /// Runs `body` immediately before the call with this number, for example an operation of another
  /// process.
  ///
  /// Without it, only whole operations of processes alternate. Calls in `body` are counted before
  /// that call.
  package func before(call number: Int, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.moments[number] = body }
  }

  /// Runs the action planned for the next call, if any; then runs `body` on the state.
  func calling<Value, Failure: Error>(
    _ body: (inout sending DiskState) throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    let moment = state.withLock { state in
      state.moments.isEmpty ? nil : state.moments.removeValue(forKey: state.calls)
    }
    moment?()
    return try state.withLock(body)
  }

  /// Removes all faults that have not occurred yet.
  public func stopFaults() {
    state.withLock { $0.faults.clear() }
  }
}

// MARK: - Power cuts

extension SimulatedDisk {
  /// Cuts the power: returns a new disk with what is left, decided by draws.
  ///
  /// The new disk has no locks, processes or faults. This disk does not change, so that another cut
  /// at the same time can be tried.
  public func crash(_ choices: Choices) -> SimulatedDisk {
    crash(.drawn(from: choices))
  }

  /// Cuts the power: returns a new disk with what the cut leaves, without locks, processes and
  /// faults.
  package func crash(_ cut: PowerCut) -> SimulatedDisk {
    let before = state.withLock { $0 }
    return SimulatedDisk(before.afterPowerCut(cut))
  }

  /// Returns a copy of this disk with its unsynced sectors, without locks, processes and faults.
  public func copy() -> SimulatedDisk {
    var copy = state.withLock { $0 }
    copy.unplug()
    return SimulatedDisk(copy)
  }

  /// Writes some unsynced sectors, chosen by draws, to the medium ahead of their sync.
  ///
  /// Systems do this at any time. Later writes to these sectors can then be lost alone.
  package func writeBack(_ choices: Choices) {
    state.withLock { state in
      for file in state.files.indices where state.files[file].isDirty {
        state.files[file].writeBack { _ in !choices.chance(1, in: 2) }
      }
    }
  }

  /// The unsynced sectors of each file, in the order in which a cut asks for their fate.
  package var unsyncedSectors: [UnsyncedSector] {
    state.withLock { state in
      Set(state.names.values).sorted().flatMap { file in
        state.files[file].dirty.sectors.map { UnsyncedSector(file: file, number: $0) }
      }
    }
  }
}

extension Choices {
  /// Copies the journal at `path` of a simulated disk to a real file, and names that file in the
  /// report.
  ///
  /// Call it when the case is over, before any check that may fail. In a case without a report it
  /// does nothing. The file is in the system's temporary folder, and its name is a hash of the path
  /// and the draws. If it cannot be written, or the disk has no such file, the report says so.
  public func attach(journal path: String, of disk: SimulatedDisk) {
    guard isTracing else { return }
    guard let bytes = disk.contents(of: path) else {
      complain(disk.misses(path))
      return
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-journals")
    let name = String(StableHash.hash("\(path) \(recorded)"), radix: 16)
    let file = folder.appending(path: "\(name).journal")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: file, options: .atomic)
      attach(journal: file.path)
    } catch {
      step("the journal could not be written to \(file.path): \(error)")
    }
  }
}

extension SimulatedDisk {
  /// Returns a sentence that the disk has no such file, and which files it has.
  func misses(_ path: String) -> String {
    let others = paths.isEmpty ? "no file" : paths.joined(separator: ", ")
    return "no journal is attached: the disk has no \(path), it has \(others)"
  }
}

extension JournalOptions {
  /// Returns these options on a simulated disk, in a new process.
  ///
  /// - Requirement: TST-2
  package func on(_ disk: SimulatedDisk) -> JournalOptions {
    on(disk.process())
  }

  /// Returns these options in a process of a simulated disk.
  ///
  /// A journal that they create is the same in every run, since its id and salt are made from a
  /// counter. No space is preallocated, so that a file ends with its last batch.
  package func on(_ process: SimulatedProcess) -> JournalOptions {
    var options = self
    options.fileSystem = process
    options.room = .none
    let number = process.disk.state.withLock { state in
      state.births += 1
      return state.births
    }
    options.birth = JournalOptions.Birth(
      identifier: JournalIdentifier(high: 0x4000, low: 1 << 63 | number),
      salt: 0x9E37_79B9_7F4A_7C15 &* number)
    return options
  }

  /// Returns the default options on a simulated disk, in a new process.
  package static func on(_ disk: SimulatedDisk) -> JournalOptions {
    JournalOptions().on(disk)
  }

  /// Returns the default options in a process of a simulated disk.
  package static func on(_ process: SimulatedProcess) -> JournalOptions {
    JournalOptions().on(process)
  }
}

extension JournalReader {
  /// Opens the journal at `path` of a simulated disk, in a new process.
  ///
  /// It throws the same errors as `init(path:)`.
  package init(path: String, on disk: SimulatedDisk) throws(JournalError) {
    try self.init(path: path, fileSystem: disk.process())
  }
}
