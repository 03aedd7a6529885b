internal import Dispatch
internal import Synchronization

/// A bounded number of threads that many sessions of a process share, for work that may wait for the
/// disk.
///
/// Work comes in lanes. The work of one lane runs in order, one piece at a time, on any of the
/// threads. A thread that waits for the disk delays the lanes that have no thread, so the threads
/// are more than the processors. The system soon ends the threads of a pool without work.
///
/// Work that may wait without limit has pools of its own. So an opening that waits for its journal or
/// for a store of secrets stops no session that is open. Four of them stop all later openings.
///
/// - Requirement: SCL-2
package final class WorkPool: Sendable {
  // The threads of Swift's tasks are as many as the processors, and must never wait. Before, each
  // busy session had a thread, and 1,000 sessions peaked at 451 to 513. Eight was not tuned by
  // measurement.

  /// The number of threads of the process's pools, except for openings.
  package static let width = 8

  /// The pool of the open sessions whose journal is on this system's own disk.
  ///
  /// Its work waits for the disk, for a store of secrets, and for another process some milliseconds
  /// at most.
  package static let shared = WorkPool(width: width)

  /// The pool of the open sessions whose log is elsewhere, as on the file system of a server.
  package static let remote = WorkPool(width: width)

  /// The pool of sessions that are being opened.
  ///
  /// It has fewer threads, so that a thousand openings take few besides those of the open sessions.
  package static let opening = WorkPool(width: 4)

  /// The pool for work that may wait seconds for another process's lock.
  ///
  /// So a process that is frozen while it holds the lock of a change log stops no session.
  package static let waiting = WorkPool(width: width)

  private struct State {
    /// The lanes with work that no thread has taken yet, in order.
    var ready = FirstInFirstOut<WorkLane>()
    /// The numbers of the queues that have no work.
    var idle: [Int]
  }

  private let state: Mutex<State>

  /// One serial queue for each thread: the system gives it a thread while it has work.
  private let queues: [DispatchQueue]

  /// Creates a pool of that many threads, at least 1.
  package init(width: Int) {
    let width = max(1, width)
    queues = (0..<width).map { _ in
      DispatchQueue(
        label: "session work", qos: .userInitiated, autoreleaseFrequency: .workItem)
    }
    state = Mutex(State(idle: Array((0..<width).reversed())))
  }

  /// Gives a thread to a lane with work, at once or after the lanes that wait already.
  fileprivate func schedule(_ lane: WorkLane) {
    let free = state.withLock { state in
      state.ready.append(lane)
      // The queue that ended last still has its thread.
      return state.idle.popLast()
    }
    if let free { start(free) }
  }

  private func start(_ number: Int) {
    queues[number].async { [self] in serve(number) }
  }

  /// Runs lanes on one thread until none waits.
  private func serve(_ number: Int) {
    // Begins again after some, so that the queue releases what its work has left to be released.
    for _ in 0..<64 {
      let next = state.withLock { state -> WorkLane? in
        if let lane = state.ready.popFirst() { return lane }
        state.idle.append(number)
        return nil
      }
      guard let next else { return }
      next.run()
    }
    start(number)
  }
}

/// Work that runs in order, one piece at a time, on the threads of a pool.
///
/// It is the executor of an actor whose jobs may wait for the disk.
package final class WorkLane: SerialExecutor {
  private enum Piece: Sendable {
    case job(UnownedJob)
    case work(@Sendable () -> Void)
  }

  private struct State {
    var pieces: [Piece] = []
    /// Whether the lane has a thread, or waits for one.
    var isScheduled = false
    var pool: WorkPool
  }

  private let state: Mutex<State>

  /// Creates a lane without work; it costs no thread.
  package init(on pool: WorkPool) {
    state = Mutex(State(pool: pool))
  }

  /// The pool on whose threads the lane takes its next turn.
  package var pool: WorkPool { state.withLock { $0.pool } }

  /// Moves the lane to the threads of another pool, from its next turn on.
  package func move(to pool: WorkPool) {
    state.withLock { $0.pool = pool }
  }

  /// Adds work after all that was added before.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    add(.work(work))
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  private func add(_ piece: Piece) {
    let free = state.withLock { state -> WorkPool? in
      state.pieces.append(piece)
      defer { state.isScheduled = true }
      return state.isScheduled ? nil : state.pool
    }
    free?.schedule(self)
  }

  /// Runs the pieces that are there.
  ///
  /// Those that arrive meanwhile take their turn after the other lanes.
  fileprivate func run() {
    let pieces = state.withLock { state in
      defer { state.pieces = [] }
      return state.pieces
    }
    for piece in pieces {
      switch piece {
      case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
      case .work(let work): work()
      }
    }
    let next = state.withLock { state -> WorkPool? in
      state.isScheduled = !state.pieces.isEmpty
      return state.isScheduled ? state.pool : nil
    }
    next?.schedule(self)
  }
}

/// A queue of values, which appends and removes in constant time on average.
struct FirstInFirstOut<Value: Sendable>: Sendable {
  private var values: [Value?] = []
  private var start = 0

  var isEmpty: Bool { start == values.count }

  mutating func append(_ value: Value) {
    values.append(value)
  }

  mutating func popFirst() -> Value? {
    guard start < values.count else { return nil }
    defer {
      values[start] = nil
      start += 1
      if start == values.count {
        values.removeAll(keepingCapacity: values.count <= 1_024)
        start = 0
      } else if start >= 1_024, start * 2 >= values.count {
        values.removeFirst(start)
        start = 0
      }
    }
    return values[start]
  }
}
