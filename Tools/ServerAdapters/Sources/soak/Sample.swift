import CHeap
import Foundation

/// What the process uses at one moment.
struct Sample {
  /// Seconds since the start.
  let time: Double
  /// Bytes that the allocator has given out and not got back.
  let heap: Int
  /// Bytes of the process in memory.
  let resident: Int
  let descriptors: Int
  let threads: Int
  /// Seconds of processor time so far.
  let processor: Double
  /// Calls that were made so far.
  let calls: Int

  init(at time: Double, calls: Int) throws {
    self.time = time
    self.calls = calls
    heap = Int(bytes_in_use())
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    resident = Self.number("VmRSS:", in: status) * 1024
    threads = Self.number("Threads:", in: status)
    descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    processor = Double(clock()) / Double(CLOCKS_PER_SEC)
  }

  private static func number(_ name: String, in status: String) -> Int {
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
  }

  static let header = "   time     calls   heap MB    RSS MB  descriptors  threads  CPU s"

  var line: String {
    func mega(_ bytes: Int) -> String { String(format: "%9.2f", Double(bytes) / 1_048_576) }
    return String(format: "%6.0f s %9ld ", time, calls) + mega(heap) + " " + mega(resident)
      + String(format: " %12ld %8ld %6.1f", descriptors, threads, processor)
  }
}

/// The durations of calls in one part of a soak.
struct Latencies {
  private var milliseconds: [Double] = []

  /// Takes room for this number of calls, so that the list does not count as growth of the process.
  init(room: Int) {
    milliseconds = Array(repeating: 0, count: room)
    milliseconds.removeAll(keepingCapacity: true)
  }

  mutating func add(_ duration: Duration) { milliseconds.append(duration / .milliseconds(1)) }

  func quantile(_ part: Double) -> Double {
    guard !milliseconds.isEmpty else { return 0 }
    let sorted = milliseconds.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }

  var line: String {
    String(
      format: "median %.2f ms, 99th percentile %.2f ms, %ld calls", quantile(0.5), quantile(0.99),
      milliseconds.count)
  }
}
