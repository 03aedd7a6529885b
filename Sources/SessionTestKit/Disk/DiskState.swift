internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The changing state of a simulated disk.
struct DiskState: Sendable {
  /// A name that was created, removed or changed, and that no sync of its folder has made durable.
  struct NameChange: Sendable {
    let from: String?
    let to: String?
    let file: Int

    func apply(to names: inout [String: Int]) {
      if let from, names[from] == file { names[from] = nil }
      if let to { names[to] = file }
    }
  }

  /// All files ever created, by number; a file without a name can still be read through its
  /// handles.
  var files: [DiskFile] = []
  private(set) var names: [String: Int] = [:]
  private var storedNames: [String: Int] = [:]
  private var changes: [NameChange] = []

  /// Whether each process is alive, by number.
  private(set) var processes: [Bool] = []
  var faults = FaultPlan()

  /// The actions to run before the call with a given number.
  var moments: [Int: @Sendable () -> Void] = [:]

  /// The file that each process last asked to watch.
  var watched: [Int: Int] = [:]
  var trace = DiskTrace()
  private(set) var calls = 0
  var uptime: UInt64 = 1_000_000_000
  var births: UInt64 = 0

  /// The number of bytes by which files may still grow; `nil` means without limit.
  var room: Int?
  private var handles: UInt64 = 0

  var hasUnsynced: Bool { !changes.isEmpty || names.values.contains { files[$0].isDirty } }

  mutating func newProcess() -> Int {
    processes.append(true)
    return processes.count - 1
  }

  mutating func newHandle() -> UInt64 {
    handles += 1
    return handles
  }

  mutating func kill(_ process: Int) {
    processes[process] = false
    for file in files.indices where files[file].lock?.process == process {
      files[file].lock = nil
    }
  }

  /// Removes all processes, locks and faults.
  mutating func unplug() {
    for process in processes.indices { kill(process) }
    processes = []
    faults.clear()
    moments = [:]
    watched = [:]
    trace = DiskTrace(limit: trace.limit)
    calls = 0
    room = nil
  }

  /// Counts and records a call.
  ///
  /// Throws a fault that prevents the call. Returns a fault that changes what the call does.
  mutating func begin(
    _ operation: DiskOperation, by process: Int, file: Int = -1, offset: Int = 0, bytes: Int = 0
  ) throws(SystemFault) -> DiskFault? {
    guard processes[process] else { throw SystemFault(operation.errorName, code: ESRCH) }
    let fault = faults.fault(atCall: calls, operation, bytes: bytes)
    trace.record(
      DiskCall(
        number: calls, process: process, operation: operation, file: file, offset: offset,
        bytes: bytes, fault: fault))
    calls += 1
    guard let fault else { return nil }
    let isSync = DiskFault.failedSync(written: 0, evicting: false).applies(to: operation)
    switch fault {
    case .shortWrite, .failedSync, .flippedBit:
      return fault
    case .death where operation == .write:
      return fault
    case .death:
      kill(process)
    case .inputOutput where isSync, .noSpace where isSync:
      return fault
    case .inputOutput, .noSpace, .interrupted:
      break
    }
    throw SystemFault(operation.errorName, code: fault.code ?? EIO)
  }
}

extension DiskState {
  mutating func open(_ path: String, for access: FileAccess, by process: Int) throws(SystemFault)
    -> Int
  {
    _ = try begin(access.operation, by: process, file: names[path] ?? -1)
    if let file = names[path] {
      if access == .creatingOnly { throw SystemFault("open", code: EEXIST) }
      return file
    }
    guard access == .creating || access == .creatingOnly else {
      throw SystemFault("open", code: ENOENT)
    }
    files.append(DiskFile())
    change(NameChange(from: nil, to: path, file: files.count - 1))
    return files.count - 1
  }

  mutating func file(at path: String, _ operation: DiskOperation, by process: Int)
    throws(SystemFault) -> Int
  {
    let file = names[path]
    _ = try begin(operation, by: process, file: file ?? -1)
    guard let file else { throw SystemFault(operation.errorName, code: ENOENT) }
    return file
  }

  /// Returns the names in the folder of `path`, sorted.
  func names(beside path: String) -> [String] {
    let folder = Self.folder(of: path)
    return names.keys.filter { Self.folder(of: $0) == folder }
      .map { path in
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
      }.sorted()
  }

  mutating func newSalt() -> UInt64 {
    births += 1
    return 0x9E37_79B9_7F4A_7C15 &* births
  }

  mutating func change(_ change: NameChange) {
    change.apply(to: &names)
    changes.append(change)
  }

  mutating func synchronizeFolder(of path: String) {
    let folder = Self.folder(of: path)
    var left: [NameChange] = []
    for change in changes {
      if Self.folder(of: change.to ?? change.from ?? "") == folder {
        change.apply(to: &storedNames)
      } else {
        left.append(change)
      }
    }
    changes = left
  }

  /// Puts a file at a path, content and name durable, without a process.
  mutating func place(_ bytes: [UInt8], at path: String) {
    files.append(DiskFile(stored: bytes))
    names[path] = files.count - 1
    storedNames[path] = files.count - 1
    // A pending change no longer gives this name to a file; a file that moved here has still lost
    // its old name.
    changes = changes.map { change in
      change.to == path ? NameChange(from: change.from, to: nil, file: change.file) : change
    }
  }

  /// Returns how many of a write's bytes fit; throws ENOSPC if none does.
  mutating func admit(_ bytes: Int, at offset: Int, of file: Int) throws(SystemFault) -> Int {
    guard let room else { return bytes }
    let growth = max(0, offset + bytes - files[file].content.count)
    let admitted = bytes - max(0, growth - room)
    guard admitted > 0 || bytes == 0 else { throw SystemFault("write", code: ENOSPC) }
    self.room = room - min(growth, room)
    return admitted
  }

  func afterPowerCut(_ cut: PowerCut) -> DiskState {
    var next = DiskState()
    next.trace = DiskTrace(limit: trace.limit)
    next.births = births
    next.uptime = uptime
    next.storedNames = storedNames
    if !changes.isEmpty {
      for place in cut.changes(changes.count) where changes.indices.contains(place) {
        changes[place].apply(to: &next.storedNames)
      }
    }
    next.names = next.storedNames
    next.files = files
    // Unreachable files draw nothing.
    for file in Set(next.names.values).sorted() {
      next.files[file] = files[file].afterPowerCut(cut, file: file)
    }
    for file in next.files.indices { next.files[file].lock = nil }
    return next
  }

  private static func folder(of path: String) -> Substring {
    path[..<(path.utf8.lastIndex(of: slash) ?? path.startIndex)]
  }
}

private let slash = UInt8(ascii: "/")

extension FileAccess {
  fileprivate var operation: DiskOperation {
    switch self {
    case .reading: .open
    case .writing: .openForWriting
    case .creating: .create
    case .creatingOnly: .createOnly
    }
  }
}

/// The last calls on a disk, in order.
struct DiskTrace: Sendable {
  /// The greatest number of calls that are kept.
  var limit: Int {
    didSet {
      ring = Array(calls.suffix(max(0, limit)))
      oldest = 0
    }
  }
  private var ring: [DiskCall] = []
  private var oldest = 0

  init(limit: Int = 4096) {
    self.limit = limit
  }

  var calls: [DiskCall] { Array(ring[oldest...] + ring[..<oldest]) }

  mutating func record(_ call: DiskCall) {
    if ring.count < limit {
      ring.append(call)
    } else if limit > 0 {
      ring[oldest] = call
      oldest = oldest + 1 == ring.count ? 0 : oldest + 1
    }
  }
}
