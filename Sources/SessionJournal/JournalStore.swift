/// Everything about an open journal that changes; `Journal` keeps it behind its lock.
struct JournalStore: ~Copyable, Sendable {
  enum Condition: Equatable, Sendable {
    case open
    case poisoned
    case closed
  }

  let path: String
  let fileSystem: any JournalFileSystem

  /// What opening found and did.
  let recovery: JournalRecovery

  var lock: LockFile
  var scanner: FrameScanner

  /// Reads older records again for slow subscribers, apart from where writing goes on.
  var pager: RecordPager?

  /// The last sequence that this process has seen made durable.
  var durable: UInt64

  var condition = Condition.open

  /// Records of others that were read and not yet handed over.
  var undelivered: [JournalRecord] = []

  /// The last frame is known to be durable to readers of the file, not only to this process.
  var endsWithWatermark: Bool

  /// What opening found no room to write again; nothing is appended behind it until that is done.
  var unproven: UnprovenEnd?

  init(
    path: String, fileSystem: any JournalFileSystem, lock: consuming LockFile,
    scanner: consuming FrameScanner, recovery: JournalRecovery, endsWithWatermark: Bool,
    unproven: UnprovenEnd?
  ) {
    self.path = path
    self.recovery = recovery
    self.fileSystem = fileSystem
    self.lock = lock
    durable = scanner.lastSequence
    self.scanner = scanner
    self.endsWithWatermark = endsWithWatermark
    self.unproven = unproven
  }

  func requireUsable() throws(JournalError) {
    switch condition {
    case .open: return
    case .poisoned: throw .poisoned(path: path)
    case .closed: throw .closed(path: path)
    }
  }
}

extension JournalStore {
  /// Opens the file, creates it if it is missing, recovers its tail.
  static func open(
    _ path: String, _ options: Journal.Options, replay: (JournalFrame, RawSpan) -> Void
  ) throws(JournalError) -> JournalStore {
    let fileSystem = options.fileSystem
    var lock = LockFile(
      beside: path, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    var created = false
    if try !isThere(path, fileSystem) {
      try lock.acquire()
      // Another creator may have been first, and has finished: it held the lock.
      if try !isThere(path, fileSystem) {
        try JournalBirth(path: path, fileSystem: fileSystem).create(options.newHeader)
        created = true
      }
    }
    // The header is read before the lock, so that what is no journal gets no lock file beside it.
    var scanner = try scan(path, fileSystem)
    try lock.acquire()
    if try isReplaced(scanner.file, path, fileSystem) {
      scanner = try scan(path, fileSystem)
    }
    var lastWasWatermark = false
    var unproven = UnprovenEnd()
    try scanner.visit { frame, payload in
      lastWasWatermark = frame.isWatermark
      unproven.note(frame)
      if !frame.isWatermark { replay(frame, payload) }
      return true
    }
    // What was read may be in the cache only, left by a process that died before its sync or whose
    // sync failed; the same holds for the file's name.
    let file = scanner.file
    let isWritten = try unproven.writeAgain(in: scanner)
    try onFile(path) { () throws(SystemFault) in
      try file.synchronizeData()
      try fileSystem.synchronizeFolder(of: path)
    }
    let repair = try repair(&scanner, fileSystem)
    lock.release()
    let recovery = JournalRecovery(created: created, totals: scanner.totals, repair: repair)
    return JournalStore(
      path: path, fileSystem: fileSystem, lock: lock, scanner: scanner, recovery: recovery,
      endsWithWatermark: lastWasWatermark, unproven: isWritten ? nil : unproven)
  }

  /// Cuts what does not count behind the whole prefix; nil if there is nothing.
  static func repair(_ scanner: inout FrameScanner, _ fileSystem: any JournalFileSystem)
    throws(JournalError) -> JournalRepair?
  {
    let ending = try scanner.verdict()
    switch ending {
    case .clean:
      return nil
    case .damaged(let damage):
      throw .damaged(path: scanner.path, damage)
    case .torn(let tail), .undetermined(let tail):
      let repair = TailRepair(path: scanner.path, file: scanner.file, fileSystem: fileSystem)
      let done = try repair.cut(tail, ending: ending)
      scanner.seek(to: scanner.position)
      return done
    }
  }

  static func scan(_ path: String, _ fileSystem: any JournalFileSystem)
    throws(JournalError) -> FrameScanner
  {
    let file = try onFile(path) { () throws(SystemFault) in
      try fileSystem.open(path, for: .writing)
    }
    return try FrameScanner(path: path, file: file)
  }

  static func isReplaced(
    _ file: any JournalFileHandle, _ path: String, _ fileSystem: any JournalFileSystem
  ) throws(JournalError) -> Bool {
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.status(of: path).identity != file.status().identity
    }
  }

  /// Whether a regular file stands at the path; throws if something else does.
  private static func isThere(_ path: String, _ fileSystem: any JournalFileSystem)
    throws(JournalError) -> Bool
  {
    do throws(SystemFault) {
      switch try fileSystem.status(of: path).kind {
      case .file: return true
      case .folder: throw SystemFault.isFolder
      case .other: throw SystemFault.isNoFile
      }
    } catch {
      if error.isMissing { return false }
      throw error.error(at: path)
    }
  }
}
