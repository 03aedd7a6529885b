#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Where a command prints: gathers blocks, and keeps the first failure of writing, so that loops can
/// stop.
final class Output {
  private static let blockSize = 64 * 1024
  /// What stands in memory is handed on after this long, in nanoseconds: a rare hit is seen at once.
  private static let patience: UInt64 = 50_000_000

  private let sink: any TextOutput
  private let interruption: Interruption
  private var pending: [UInt8] = []
  private var pulses: UInt32 = 0
  private var flushedAt: UInt64 = 0
  private(set) var failure: OutputFailure?

  init(_ sink: any TextOutput, interruption: Interruption) {
    self.sink = sink
    self.interruption = interruption
    pending.reserveCapacity(Self.blockSize + 4096)
  }

  /// The system's number of it; `nil` if it is no file of the system.
  var descriptor: Int32? { (sink as? DescriptorOutput)?.descriptor }

  /// Whether a person looks at it directly.
  var isTerminal: Bool { sink.isTerminal }

  /// How many columns the terminal has; `nil` where there is none.
  var width: Int? { sink.width }

  /// Whether somebody still takes what is printed, and nobody asked the tool to end.
  var isOpen: Bool { failure == nil && !interruption.isRaised }

  func write(_ text: String) {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.blockSize { flush() }
  }

  func write(_ bytes: some Collection<UInt8>) {
    pending.append(contentsOf: bytes)
    if pending.count >= Self.blockSize { flush() }
  }

  /// Says that a loop is alive, printing or not; called once for each record.
  ///
  /// What was printed a while ago is handed on, and an output that nobody reads any more is
  /// noticed though nothing is written to it.
  func pulse() {
    pulses &+= 1
    guard pulses & 1023 == 0 else { return }
    if pending.isEmpty {
      attempt { () throws(OutputFailure) in try sink.probe() }
    } else if now() &- flushedAt >= Self.patience {
      flush()
    }
  }

  /// Hands on what was printed so far.
  func flush() {
    guard !pending.isEmpty else { return }
    attempt { () throws(OutputFailure) in try sink.write(pending[...]) }
    pending.removeAll(keepingCapacity: true)
    flushedAt = now()
  }

  /// Hands on what was printed and waits, for a loop that has nothing to do; notices that nobody reads
  /// any more.
  func pause(milliseconds: Int32) {
    flush()
    guard isOpen else { return }
    sink.wait(milliseconds: milliseconds)
    attempt { () throws(OutputFailure) in try sink.probe() }
  }

  private func attempt(_ body: () throws(OutputFailure) -> Void) {
    guard failure == nil else { return }
    do throws(OutputFailure) {
      try body()
    } catch {
      failure = error
      interruption.endOutput()
    }
  }

  /// The time since the system's start, in nanoseconds.
  private func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
