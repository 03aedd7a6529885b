#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The output of a command.
///
/// It collects blocks, and keeps the first failure of a write so that loops can stop.
final class Output {
  private static let blockSize = 64 * 1024
  /// Collected text is written after this time, in nanoseconds, so that the user sees a rare match
  /// at once.
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

  /// Its file descriptor; `nil` if it is not a file of the system.
  var descriptor: Int32? { (sink as? DescriptorOutput)?.descriptor }

  /// Whether it is a terminal.
  var isTerminal: Bool { sink.isTerminal }

  /// The number of columns of the terminal; `nil` if there is none.
  var width: Int? { sink.width }

  /// Whether the output accepts more, and nothing asked the command to end.
  var isOpen: Bool { failure == nil && !interruption.isRaised }

  func write(_ text: String) {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.blockSize { flush() }
  }

  func write(_ bytes: some Collection<UInt8>) {
    pending.append(contentsOf: bytes)
    if pending.count >= Self.blockSize { flush() }
  }

  /// Writes a block of lines, and reports that a loop is alive, whether the block is empty or not.
  ///
  /// A large block is not copied.
  func write(block: ArraySlice<UInt8>) {
    if block.count < Self.blockSize {
      write(block)
    } else {
      flush()
      attempt { () throws(OutputFailure) in try sink.write(block) }
      flushedAt = now()
    }
    beat()
  }

  /// Reports that a loop is alive, whether it prints or not; called once for each record.
  func pulse() {
    pulses &+= 1
    if pulses & 1023 == 0 { beat() }
  }

  /// Reports that a loop is alive; called after about a thousand records, or after each block.
  ///
  /// Writes text that was printed some time ago, and notices a closed output while nothing is printed.
  func beat() {
    if pending.isEmpty {
      attempt { () throws(OutputFailure) in try sink.probe() }
    } else if now() &- flushedAt >= Self.patience {
      flush()
    }
  }

  /// Writes what was printed so far.
  func flush() {
    guard !pending.isEmpty else { return }
    attempt { () throws(OutputFailure) in try sink.write(pending[...]) }
    pending.removeAll(keepingCapacity: true)
    flushedAt = now()
  }

  /// Writes what was printed, and waits; for a loop that has nothing to do.
  ///
  /// It notices if the output was closed.
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

  /// Returns the time since the system's start, in nanoseconds.
  private func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
