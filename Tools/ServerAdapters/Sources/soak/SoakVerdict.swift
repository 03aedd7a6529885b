import Foundation

/// What a soak found to grow.
struct SoakVerdict {
  private let options: SoakOptions
  var problems: [String] = []

  init(_ options: SoakOptions) { self.options = options }

  mutating func require(_ isRight: Bool, _ problem: String) {
    if !isRight { problems.append(problem) }
  }

  /// Compares the last quarter with the second one: the first fills caches and pools.
  mutating func judge(_ samples: [Sample]) {
    let quarter = samples.count / 4
    let (early, late) = (samples[quarter..<(2 * quarter)], samples.suffix(quarter))
    guard let first = early.first, let last = late.last else { return }
    func median(_ part: some Collection<Sample>, _ value: (Sample) -> Int) -> Int {
      let sorted = part.map(value).sorted()
      return sorted[sorted.count / 2]
    }
    let heap = median(late, \.heap) - median(early, \.heap)
    let calls = median(late, \.calls) - median(early, \.calls)
    let perCall = calls == 0 ? 0 : heap / calls
    // FoundationNetworking loses 126 to 225 bytes for each exchange. The rest is for the journals' records.
    let allowed = options.client == .urlsession ? 300 : 32
    say("heap: \(heap) bytes more after \(calls) calls, \(perCall) bytes per call")
    require(
      heap <= allowed * calls + 1_048_576,
      "memory grew by \(perCall) bytes per call; at most \(allowed) are expected")
    let descriptors = median(late, \.descriptors) - median(early, \.descriptors)
    require(descriptors <= 8, "\(descriptors) more descriptors are open")
    // The sessions share their threads. The clients start threads when there is much to do, so the number may
    // rise in steps. It must have an end.
    let before = median(samples[(2 * quarter)..<(3 * quarter)], \.threads)
    let threads = median(late, \.threads) - before
    require(threads <= 8, "\(threads) more threads run than in the quarter before")
    require(
      last.threads <= 48,
      "\(last.threads) threads run for \(options.sessions) sessions")
    let share = (last.processor - first.processor) / max(1, last.time - first.time)
    say(String(format: "processor: %.2f of one core", share))
  }
}
