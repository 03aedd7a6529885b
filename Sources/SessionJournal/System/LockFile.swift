internal import Dispatch
internal import Synchronization

/// The permanent file next to a journal whose lock allows one writer at a time.
///
/// The lock of the journal alone is not enough. A process that waits for it, while the file is
/// replaced, would write to the old file. The journal's lock is taken second: it excludes processes
/// that opened the file by a hard link. Both are held for one commit at a time, since the system
/// kills a suspended app that holds a lock.
struct LockFile: Sendable {
  let path: String
  private let journalPath: String
  private let fileSystem: any JournalFileSystem
  private let deadline: UInt64

  /// The open lock file and its identity.
  private var opened: (file: any JournalFileHandle, identity: FileStatus.Identity)?

  /// The permission to keep the file open; nil if it is closed after each commit.
  private var kept: OpenFileBudget.Permission?

  private let turn: ProcessTurn

  /// The turn at the lock in this process; nil if this object does not have it.
  private var taken: ProcessTurn.Taken?

  /// When waiting began; one deadline holds for both locks.
  private var start: UInt64 = 0

  /// Creates a lock next to a journal; an acquisition waits up to `deadline` nanoseconds.
  init(beside journal: JournalLocation, fileSystem: any JournalFileSystem, deadline: UInt64) {
    journalPath = journal.given
    path = journal.real + FileSuffix.lock.rawValue
    self.fileSystem = fileSystem
    self.deadline = deadline
    turn = fileSystem.turn(at: path)
  }

  mutating func acquire() throws(JournalError) {
    guard taken == nil else { return }
    start = fileSystem.uptime()
    guard let turn = turn.take(within: deadline) else {
      throw .busy(path: journalPath, waited: (fileSystem.uptime() - start) / 1_000_000)
    }
    var pause: UInt64 = 500_000
    do throws(JournalError) {
      while try !attempt() { try wait(&pause) }
    } catch {
      forgetUnlessKept()
      throw error
    }
    taken = turn
  }

  /// Takes the journal's own lock, after this one; the caller must release it.
  func acquire(journal file: any JournalFileHandle) throws(JournalError) {
    var pause: UInt64 = 500_000
    while try !onFile(journalPath, { () throws(SystemFault) in try file.tryLock() }) {
      try wait(&pause)
    }
  }

  private func wait(_ step: inout UInt64) throws(JournalError) {
    let waited = fileSystem.uptime() - start
    guard waited < deadline else {
      throw .busy(path: journalPath, waited: waited / 1_000_000)
    }
    fileSystem.pause(nanoseconds: min(step, deadline - waited))
    step = min(step * 2, 10_000_000)
  }

  mutating func release() {
    guard taken != nil, let opened else { return }
    defer { taken = nil }
    do throws(SystemFault) {
      try opened.file.unlock()
    } catch {
      // Closing releases the lock too, unless a child process has inherited the file.
      forget()
      return
    }
    kept = kept ?? fileSystem.openLockFiles.permission()
    forgetUnlessKept()
  }

  mutating func close() {
    release()
    forget()
    kept = nil
  }

  private mutating func forgetUnlessKept() {
    if kept == nil { forget() }
  }

  private mutating func forget() {
    opened?.file.close()
    opened = nil
  }

  /// Tries once; false if another process has the lock, or if the lock file was replaced meanwhile.
  private mutating func attempt() throws(JournalError) -> Bool {
    let (file, mine) = try open()
    var refusal: SystemFault?
    do throws(SystemFault) {
      guard try file.tryLock() else { return false }
      // Otherwise a cleanup of `*.lock` would split the writers into two groups, each of which
      // believes itself alone.
      if try fileSystem.status(of: path).identity == mine { return true }
      try file.unlock()
    } catch {
      refusal = error
    }
    // Either the lock file was removed, and a lock on the old one excludes no process. Or an error
    // followed the lock. Closing releases it.
    forget()
    if let refusal, !refusal.isMissing { throw refusal.error(at: path) }
    return false
  }

  private mutating func open() throws(JournalError)
    -> (file: any JournalFileHandle, identity: FileStatus.Identity)
  {
    if let opened { return opened }
    do throws(SystemFault) {
      let file = try fileSystem.open(path, for: .creating)
      let identity = try file.status().identity
      opened = (file, identity)
      return (file, identity)
    } catch {
      throw refusal(for: error)
    }
  }

  /// Returns the error for a lock file of another user, or for a folder that takes no new file.
  private func refusal(for fault: SystemFault) -> JournalError {
    if fault.isMissing { return .folderMissing(path: journalPath) }
    guard fault.isDenied else {
      let error = fault.error(at: path)
      if case .readOnlyFolder = error { return .readOnlyFolder(path: journalPath) }
      return error
    }
    do throws(SystemFault) {
      _ = try fileSystem.status(of: path)
      return .permissionDenied(path: path, rights: AccessRights.denial(of: path))
    } catch {
      return .readOnlyFolder(path: journalPath)
    }
  }
}

/// The number of files that a process keeps open although they could be opened again.
///
/// The first sessions of a process keep their lock files open. The others open them for each commit,
/// so that ten thousand sessions need no descriptor for it. That takes four system calls more: to open
/// it, to look at it twice, and to close it.
///
/// - Requirement: SCL-2
package final class OpenFileBudget: Sendable {
  /// The budget of this process.
  package static let ofProcess = OpenFileBudget(8)

  static let unlimited = OpenFileBudget(.max)

  private let left: Atomic<Int>

  /// Creates a budget for that many files.
  package init(_ count: Int) {
    left = Atomic(count)
  }

  /// Returns the permission to keep one more file open; nil if there is none left.
  func permission() -> Permission? {
    guard left.load(ordering: .relaxed) > 0 else { return nil }
    if left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return Permission(self) }
    left.wrappingAdd(1, ordering: .relaxed)
    return nil
  }

  /// The permission to keep one file open, which ends with the last reference to it.
  final class Permission: Sendable {
    private let budget: OpenFileBudget

    fileprivate init(_ budget: OpenFileBudget) {
      self.budget = budget
    }

    deinit {
      budget.left.wrappingAdd(1, ordering: .relaxed)
    }
  }
}

/// The queue for one lock file in this process, so that its journals do not poll for each other.
///
/// The system's lock keeps other processes out. This lock queues the threads of this process, in
/// order.
package final class ProcessTurn: Sendable {
  private let semaphore = DispatchSemaphore(value: 1)

  package init() {}

  /// Waits for the turn, for at most that many nanoseconds; nil if the time is over.
  func take(within nanoseconds: UInt64) -> Taken? {
    let wait = DispatchTimeInterval.nanoseconds(Int(clamping: nanoseconds))
    return semaphore.wait(timeout: .now() + wait) == .success ? Taken(self) : nil
  }

  /// A turn that was taken; it ends with the last reference to this object.
  final class Taken: Sendable {
    private let turn: ProcessTurn

    fileprivate init(_ turn: ProcessTurn) {
      self.turn = turn
    }

    deinit {
      turn.semaphore.signal()
    }
  }
}

/// The turns at all lock files that are in use in this process, by path.
final class InProcessLockQueue: Sendable {
  static let shared = InProcessLockQueue()

  private struct Entry {
    weak var turn: ProcessTurn?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The number of entries at which those of ended turns are removed.
    ///
    /// It doubles with the turns in use, so that each of ten thousand openings costs the same.
    var limit = 64
  }

  private let state = Mutex(State())

  /// Returns the one turn at the lock file with that path.
  func turn(at path: String) -> ProcessTurn {
    state.withLock { state in
      if let turn = state.entries[path]?.turn { return turn }
      if state.entries.count >= state.limit {
        state.entries = state.entries.filter { $0.value.turn != nil }
        state.limit = max(64, 2 * state.entries.count)
      }
      let turn = ProcessTurn()
      state.entries[path] = Entry(turn: turn)
      return turn
    }
  }
}
