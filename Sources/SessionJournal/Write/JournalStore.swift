/// The mutable state of an open journal; `Journal` protects it with a mutex.
struct JournalStore: ~Copyable, Sendable {
  enum Condition: Equatable, Sendable {
    case open
    case poisoned
    case closed
  }

  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  /// What opening the journal found and did.
  let recovery: JournalRecovery

  var lock: LockFile
  var scanner: FrameScanner

  /// Reads older records again for slow subscribers, without moving the scanner.
  var pager: RecordPager?

  /// The last sequence that this process knows to be durable.
  var durable: UInt64

  var condition = Condition.open

  let durability: JournalOptions.Durability
  let room: PreallocationRule

  /// The length of the file when its end was last checked, in bytes.
  ///
  /// Only zeros were after the last batch then.
  var knownSize: UInt64

  /// The last sequence of a record; watermark frames are not counted.
  var lastRecord: UInt64

  /// A repair that no caller has received yet.
  var unreportedRepair: JournalRepair?

  /// Records of others that were read but not yet returned to a caller.
  var undelivered: [JournalRecord] = []

  /// Whether the last frame is a watermark, which proves to all readers that the file is durable.
  var endsWithWatermark: Bool

  /// The bytes that opening has not written again, for lack of room or since it has only read.
  ///
  /// Nothing is appended before that is done.
  var unproven: UndeterminedTail?

  /// Whether the file was opened by reading alone, and not used under its lock since.
  var isOnlyRead = false

  init(
    location: JournalLocation, options: JournalOptions, lock: consuming LockFile,
    scanner: consuming FrameScanner, recovery: JournalRecovery, knownSize: UInt64,
    lastRecord: UInt64, unproven: UndeterminedTail?
  ) {
    self.location = location
    self.recovery = recovery
    fileSystem = options.fileSystem
    durability = options.durability
    room = options.room
    self.knownSize = knownSize
    self.lastRecord = lastRecord
    endsWithWatermark = lastRecord < scanner.lastSequence
    self.lock = lock
    durable = scanner.lastSequence
    self.scanner = scanner
    self.unproven = unproven
  }

  var path: String { location.given }

  func requireUsable() throws(JournalError) {
    switch condition {
    case .open: return
    case .poisoned: throw .poisoned(path: path)
    case .closed: throw .closed(path: path)
    }
  }
}

extension JournalStore {
  /// Opens the file, creates it if it is missing, and recovers its tail.
  static func open(
    _ path: String, _ options: JournalOptions, replay: (JournalFrame, RawSpan) -> Void
  ) throws(JournalError) -> JournalStore {
    let fileSystem = options.fileSystem
    let location = try JournalLocation.find(path, fileSystem)
    var lock = LockFile(
      beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    let created = try location.isThere ? false : create(location, options, &lock)
    // The header is read before the lock is taken, so that a file that is no journal gets no
    // lock file.
    var scanner = try scan(location, fileSystem)
    try lock.acquire()
    try lock.acquire(journal: scanner.file)
    while try location.status(fileSystem).identity != scanner.identity {
      scanner = try scan(location, fileSystem)
      try lock.acquire(journal: scanner.file)
    }
    let (lastRecord, unproven) = try fold(&scanner, replay)
    // What was read may be in the cache only: left by a process that died before its sync, or
    // whose sync failed. The same holds for the file's name.
    let file = scanner.file
    let isWritten = try unproven.writeAgain(in: scanner)
    try onFile(path) { () throws(SystemFault) in
      try file.synchronizeData()
      try fileSystem.synchronizeFolder(of: location.real)
    }
    var repaired: JournalRepair?
    var isRepaired = true
    do throws(JournalError) {
      repaired = try repair(&scanner, location, fileSystem)
    } catch {
      // Without room to keep a copy of the tail, it stays; the first commit repairs it.
      guard case .diskFull = error else { throw error }
      isRepaired = false
    }
    DraftFile(location: location, fileSystem: fileSystem).removeLeftover()
    let size = isRepaired ? try size(of: scanner) : 0
    try onFile(path) { () throws(SystemFault) in try file.unlock() }
    lock.release()
    // An open journal reads little or nothing again, and a process may have ten thousand.
    scanner.rest()
    let recovery = JournalRecovery(
      created: created, totals: scanner.totals, repair: repaired,
      provenSequence: unproven.provenSequence)
    return JournalStore(
      location: location, options: options, lock: lock, scanner: scanner, recovery: recovery,
      knownSize: size, lastRecord: lastRecord, unproven: isWritten ? nil : unproven)
  }

  /// Opens a file by reading it, without a lock, a sync or a write.
  ///
  /// The first call that takes the lock does what an opening does under it. Returns nil if that cannot wait:
  /// the file is missing, its end needs a repair, or another one took its place meanwhile. Then `replay` has
  /// received records that may not count.
  static func read(
    _ path: String, _ options: JournalOptions, replay: (JournalFrame, RawSpan) -> Void
  ) throws(JournalError) -> JournalStore? {
    let fileSystem = options.fileSystem
    let location = try JournalLocation.find(path, fileSystem)
    guard location.isThere else { return nil }
    var scanner = try scan(location, fileSystem)
    let (lastRecord, unproven) = try fold(&scanner, replay)
    // A batch that is being written looks torn, and so does one whose writer died. Only the lock tells.
    guard try scanner.verdict() == .clean,
      try location.status(fileSystem).identity == scanner.identity
    else { return nil }
    scanner.rest()
    let recovery = JournalRecovery(
      created: false, totals: scanner.totals, repair: nil, provenSequence: unproven.provenSequence)
    // A watermark says that all before it was synced.
    let isProven = lastRecord < scanner.lastSequence
    var store = JournalStore(
      location: location, options: options,
      lock: LockFile(
        beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds),
      scanner: scanner, recovery: recovery, knownSize: 0, lastRecord: lastRecord,
      unproven: isProven ? nil : unproven)
    store.isOnlyRead = true
    return store
  }

  /// Passes each record to `replay`; returns the sequence of the last one, and what is not proven.
  private static func fold(
    _ scanner: inout FrameScanner, _ replay: (JournalFrame, RawSpan) -> Void
  ) throws(JournalError) -> (lastRecord: UInt64, unproven: UndeterminedTail) {
    var lastRecord = scanner.lastSequence
    var unproven = UndeterminedTail()
    try scanner.visit { frame, payload in
      unproven.note(frame)
      guard !frame.isWatermark else { return true }
      lastRecord = frame.sequence
      replay(frame, payload)
      return true
    }
    return (lastRecord, unproven)
  }

  /// Cuts what does not count after the whole prefix; nil if there is nothing.
  static func repair(
    _ scanner: inout FrameScanner, _ location: JournalLocation,
    _ fileSystem: any JournalFileSystem
  ) throws(JournalError) -> JournalRepair? {
    let ending = try scanner.verdict()
    switch ending {
    case .clean:
      return nil
    case .damaged(let damage):
      throw .damaged(path: scanner.path, damage)
    case .torn(let tail), .undetermined(let tail):
      let repair = TailRepair(location: location, file: scanner.file, fileSystem: fileSystem)
      do throws(JournalError) {
        let done = try repair.cut(tail, ending: ending)
        scanner.seek(to: scanner.position)
        return done
      } catch {
        // The error names the journal, which is unchanged, and not the copy.
        if case .diskFull = error { throw .diskFull(path: location.given) }
        throw error
      }
    }
  }

  static func size(of scanner: borrowing FrameScanner) throws(JournalError) -> UInt64 {
    try onFile(scanner.path) { () throws(SystemFault) in try scanner.file.status().size }
  }

  static func scan(_ location: JournalLocation, _ fileSystem: any JournalFileSystem)
    throws(JournalError) -> FrameScanner
  {
    let file = try onFile(location.given) { () throws(SystemFault) in
      try fileSystem.open(location.real, for: .writing)
    }
    let scanner = try FrameScanner(path: location.given, file: file)
    do throws(SystemFault) {
      try file.makePrivate()
    } catch {
      // A process that may write but is not the owner leaves the mode to the owner.
      guard error.isRefusedMode else { throw error.error(at: location.given) }
    }
    return scanner
  }

  /// Creates the journal; false if another process created it while this one waited for the lock.
  private static func create(
    _ location: JournalLocation, _ options: JournalOptions, _ lock: inout LockFile
  ) throws(JournalError) -> Bool {
    do throws(JournalError) {
      try lock.acquire()
    } catch {
      throw error.ofCreation(at: location.given)
    }
    let fileSystem = options.fileSystem
    guard try !JournalLocation.find(location.given, fileSystem).isThere else { return false }
    try JournalCreation(location: location, fileSystem: fileSystem).create(options.newHeader)
    return true
  }
}

/// The creation of a journal file, whole or not at all.
private struct JournalCreation {
  // The rename needs no form that refuses to replace a file, which some file systems lack: the
  // caller holds the lock. For that, the lock file must exist before the journal does.
  let location: JournalLocation
  let fileSystem: any JournalFileSystem

  /// Creates the file with its header, durably.
  ///
  /// The caller holds the lock and has seen that nothing is at the path. This is checked again
  /// before the rename, since another process may have removed the lock file.
  func create(_ header: JournalHeader) throws(JournalError) {
    do throws(SystemFault) {
      let folder = try fileSystem.openFolder(of: location.real)
      try putInPlace(header)
      try folder.synchronize()
    } catch {
      if error.isDenied { throw .readOnlyFolder(path: location.given) }
      if error.isMissing { throw .folderMissing(path: location.given) }
      throw error.error(at: location.given).ofCreation(at: location.given)
    }
  }

  private func isThere() throws(SystemFault) -> Bool {
    do throws(SystemFault) {
      _ = try fileSystem.status(of: location.real)
      return true
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }

  private func putInPlace(_ header: JournalHeader) throws(SystemFault) {
    let draft = DraftFile(location: location, fileSystem: fileSystem)
    let file = try draft.create()
    defer { file.close() }
    do throws(SystemFault) {
      try file.writeAll(header.encoded, at: 0)
      try file.synchronize()
      guard try !isThere() else { throw .isExchanged }
      try draft.putInPlace(file.status().identity)
    } catch {
      draft.discard(file)
      throw error
    }
  }
}

extension JournalError {
  /// Returns the same error for a journal that did not exist before.
  func ofCreation(at path: String) -> JournalError {
    if case .diskFull = self { return .noRoomToCreate(path: path) }
    return self
  }
}
