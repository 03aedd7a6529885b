internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The processors of this computer.
enum Processors {
  /// Their number, at most 64.
  static let count = min(64, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}

/// Work on blocks in several threads, whose results are passed on in the order of the blocks.
///
/// Its memory is bounded: only a few blocks wait for their results.
struct OrderedWork<Input: Sendable, Output: Sendable> {
  private final class Job: Sendable {
    private let hasBegun = Atomic<Bool>(false)
    private let output = Mutex<Output?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// Does the work, unless another thread has begun with it.
    func begin(_ work: () -> Output) {
      guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
      let output = work()
      self.output.withLock { $0 = output }
      isDone.signal()
    }

    func take() -> Output? {
      isDone.wait()
      return output.withLock { $0.take() }
    }
  }

  /// How many blocks may wait.
  private let most: Int
  private let work: @Sendable (Input) -> Output
  private var jobs: [(job: Job, input: Input)] = []

  /// Creates work without blocks; with at most one block waiting, all work is done by the caller.
  init(most: Int = 2 * Processors.count, work: @escaping @Sendable (Input) -> Output) {
    self.most = most
    self.work = work
  }

  /// Adds a block; passes on the result of the oldest one if too many wait.
  mutating func add<Failure>(
    _ input: Input, _ take: (Output) throws(Failure) -> Void
  ) throws(Failure) {
    let job = Job()
    let work = work
    DispatchQueue.global().async { job.begin { work(input) } }
    jobs.append((job, input))
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
    let (job, input) = jobs.removeFirst()
    // Otherwise the caller would wait for a free thread.
    job.begin { work(input) }
    guard let output = job.take() else { return }
    try take(output)
  }
}
