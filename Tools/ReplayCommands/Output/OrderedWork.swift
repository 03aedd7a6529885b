internal import Dispatch
internal import Synchronization

/// Work on blocks in several threads, whose results are passed on in the order of the blocks.
///
/// The caller works on blocks too while it waits. Memory is bounded: only a few blocks wait for their
/// results.
struct OrderedWork<Input: Sendable, Output: Sendable> {
  private final class Job: Sendable {
    let input: Input
    private let output = Mutex<Output?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ input: Input) { self.input = input }

    var isDone: Bool { output.withLock { $0 != nil } }

    func finish(with result: Output) {
      output.withLock { $0 = result }
      done.signal()
    }

    func take() -> Output? {
      done.wait()
      return output.withLock { $0.take() }
    }
  }

  /// The blocks that no thread has taken, oldest first.
  private final class Waiting: Sendable {
    private struct State {
      var jobs: [Job] = []
      /// The number of threads beside the caller.
      var threads = 0
    }

    private let state = Mutex(State())
    private let mostThreads: Int

    init(mostThreads: Int) { self.mostThreads = mostThreads }

    /// Adds a block; returns whether a thread must be started for it.
    func add(_ job: Job) -> Bool {
      state.withLock { state in
        state.jobs.append(job)
        guard state.threads < mostThreads else { return false }
        state.threads += 1
        return true
      }
    }

    /// Takes back a thread that could not be started.
    func forgetThread() { state.withLock { $0.threads -= 1 } }

    /// Returns the oldest block for the caller.
    func next() -> Job? { state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() } }

    /// Returns the oldest block for a thread, which ends if there is none.
    func nextOrEnd() -> Job? {
      state.withLock { state in
        guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
        state.threads -= 1
        return nil
      }
    }
  }

  /// How many blocks may wait.
  private let most: Int
  /// Starts a thread; returns `false` if that is not possible.
  private let start: (@escaping @Sendable () -> Void) -> Bool
  private let work: @Sendable (Input) -> Output
  private let waiting: Waiting
  private var jobs: [Job] = []

  /// Creates work without blocks, for the caller and at most `threads` threads.
  ///
  /// A thread without a block ends, and a new one costs time. So a few blocks more than two for each
  /// processor may wait.
  init(
    most: Int = 2 * WorkThread.processors + 4, threads: Int = WorkThread.processors - 1,
    start: @escaping (@escaping @Sendable () -> Void) -> Bool = WorkThread.start,
    work: @escaping @Sendable (Input) -> Output
  ) {
    self.most = most
    self.start = start
    self.work = work
    waiting = Waiting(mostThreads: threads)
  }

  /// Adds a block; passes on the result of the oldest one if too many wait.
  mutating func add<Failure>(
    _ input: Input, _ take: (Output) throws(Failure) -> Void
  ) throws(Failure) {
    let job = Job(input)
    jobs.append(job)
    if waiting.add(job) {
      let hasStarted = start { [waiting, work] in
        while let job = waiting.nextOrEnd() { job.finish(with: work(job.input)) }
      }
      // Without a thread the caller does the work.
      if !hasStarted { waiting.forgetThread() }
    }
    if jobs.count >= most { try passOn(take) }
  }

  /// Adds the last block, and passes on all results.
  mutating func finish<Failure>(
    with last: Input?, _ take: (Output) throws(Failure) -> Void
  ) throws(Failure) {
    // A caller with one block does not start a thread for it.
    let output = last.map(work)
    while !jobs.isEmpty { try passOn(take) }
    if let output { try take(output) }
  }

  private mutating func passOn<Failure>(_ take: (Output) throws(Failure) -> Void) throws(Failure) {
    let job = jobs.removeFirst()
    while !job.isDone, let next = waiting.next() { next.finish(with: work(next.input)) }
    guard let output = job.take() else { return }
    try take(output)
  }
}
