internal import SessionJournal
internal import Synchronization

/// A disk in memory: sectors, locks and folders that fail as real ones do, when a test says so
/// (Specs/FaultModel.md).
///
/// What is written is visible at once to every process and survives a power cut only after its sync.
/// Paths name files in folders that all exist. Deterministic where one thread uses it.
///
/// ```swift
/// let disk = SimulatedDisk()
/// let journal = try Journal.open(at: "/app.journal", options: .on(disk))
/// _ = try journal.append([draft])
/// disk.fail(atCall: disk.callCount + 7, with: .noSpace)
/// // … append again …
/// let after = disk.crash(choices)    // the power fails; a new disk to open anew
/// ```
///
/// - Requirement: TST-2
public final class SimulatedDisk: Sendable {
  /// The bytes that reach the medium together, or not.
  package static let sectorSize = DiskFile.sectorSize

  let state: Mutex<DiskState>

  /// An empty disk that works.
  public convenience init() {
    self.init(DiskState())
  }

  private init(_ state: DiskState) {
    self.state = Mutex(state)
  }

  /// A new process, with handles and locks of its own.
  public func process() -> SimulatedProcess {
    SimulatedProcess(number: state.withLock { $0.newProcess() }, disk: self)
  }

  /// The paths at which processes see files, in order.
  public var paths: [String] { state.withLock { $0.names.keys.sorted() } }

  /// What processes see of the file at `path`; nil if there is none.
  public func contents(of path: String) -> [UInt8]? {
    state.withLock { state in state.names[path].map { state.files[$0].content } }
  }

  /// The number of the file at `path`, as a call's `file` gives it; nil if there is none.
  package func file(at path: String) -> Int? {
    state.withLock { $0.names[path] }
  }

  /// Puts a file of these bytes at `path`, durably, in place of what stood there.
  public func place(_ bytes: [UInt8], at path: String) {
    state.withLock { $0.place(bytes, at: path) }
  }

  /// Whether a power cut could take something back.
  package var hasUnsynced: Bool { state.withLock { $0.hasUnsynced } }

  /// How many bytes files may still grow by before writes find no room; nil, as at first: any number.
  public var room: Int? {
    get { state.withLock { $0.room } }
    set { state.withLock { $0.room = newValue } }
  }
}

// MARK: - Faults

extension SimulatedDisk {
  /// How many calls were made; the number that the next one has.
  public var callCount: Int { state.withLock { $0.calls } }

  /// The last calls, the oldest first; at most `traceLimit`.
  package var trace: [DiskCall] { state.withLock { $0.trace.calls } }

  /// How many calls the trace keeps; 4,096 if not said.
  package var traceLimit: Int {
    get { state.withLock { $0.trace.limit } }
    set { state.withLock { $0.trace.limit = newValue } }
  }

  /// Lets the call of that number fail; calls are counted over all processes of this disk, from 0.
  public func fail(atCall number: Int, with fault: DiskFault) {
    state.withLock { $0.faults.add(fault, atCall: number) }
  }

  /// Lets the next call of an operation fail, whatever its number.
  package func fail(atNext operation: DiskOperation, with fault: DiskFault) {
    state.withLock { $0.faults.add(fault, atNext: operation) }
  }

  /// Lets each call from now on fail with a chance of 1 in `oneIn`, by draws; none where that is 0.
  public func drawFaults(from choices: Choices, oneIn: UInt64) {
    state.withLock { $0.faults.draw(from: choices, oneIn: oneIn) }
  }

  /// Lets something happen in the very moment before the call of that number, such as what another
  /// process does meanwhile: whole operations of processes alternate otherwise.
  ///
  /// The calls that it makes come first in the count.
  package func before(call number: Int, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.moments[number] = body }
  }

  /// Runs `body` on what the disk is when the moment of the next call has passed.
  func calling<Value, Failure: Error>(
    _ body: (inout sending DiskState) throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    let moment = state.withLock { $0.moments.removeValue(forKey: $0.calls) }
    moment?()
    return try state.withLock(body)
  }

  /// Takes back all faults that have not struck.
  public func stopFaults() {
    state.withLock { $0.faults.clear() }
  }
}

// MARK: - Power cuts

extension SimulatedDisk {
  /// The power fails: a new disk with what is left, by draws; without locks, processes and faults.
  ///
  /// This disk stays as it is, so that another cut at the same moment can be tried.
  public func crash(_ choices: Choices) -> SimulatedDisk {
    crash(.drawn(from: choices))
  }

  /// The power fails: a new disk with what the cut leaves; without locks, processes and faults.
  package func crash(_ cut: PowerCut) -> SimulatedDisk {
    let before = state.withLock { $0 }
    return SimulatedDisk(before.afterPowerCut(cut))
  }

  /// A disk like this one, unsynced sectors and all; without locks, processes and faults.
  public func copy() -> SimulatedDisk {
    var copy = state.withLock { $0 }
    copy.unplug()
    return SimulatedDisk(copy)
  }

  /// Some unsynced sectors, by draws, reach the medium ahead of their sync, as the system does in
  /// its own time; what is written to them afterwards may then be lost on its own.
  package func writeBack(_ choices: Choices) {
    state.withLock { state in
      for file in state.files.indices where state.files[file].isDirty {
        state.files[file].writeBack { _ in !choices.chance(1, in: 2) }
      }
    }
  }

  /// What could be taken back of each file, in the order in which a cut asks.
  package var unsyncedSectors: [UnsyncedSector] {
    state.withLock { state in
      Set(state.names.values).sorted().flatMap { file in
        state.files[file].dirty.sectors.map { UnsyncedSector(file: file, number: $0) }
      }
    }
  }
}
