/// The draws of one case so far, and the source of the next ones.
struct ChoiceState: Sendable {
  enum Source: Sendable {
    case random
    case replay
    case odometer
  }

  /// The number of draws after which a case *overruns*: each further draw is 0, so that no
  /// generator grows without end.
  static let maximumDraws = 65_536
  /// The number of draws after which 0 evidently ends no loop: further draws are a fixed mixture.
  static let zeroedDraws = 2 * maximumDraws
  /// The number of draws after which the case counts as endless.
  static let endlessDraws = 1 << 20

  private let source: Source
  private var random = SplitMix(seed: 0)
  private var script: [UInt64] = []
  /// The odometer's limits: how many draws it turns, and the greatest value of each.
  private var depth = ChoiceState.maximumDraws
  private var width = UInt64.max

  /// The number of draws that this case has made; `draws` can hold more digits of the odometer
  /// after it.
  private(set) var position = 0
  /// The number of draws that this case has asked for, including those that were not recorded.
  private var asked = 0
  /// Receives the draws of a case that does not end.
  var endless: (@Sendable ([UInt64]) -> Never)?
  private var draws: [UInt64] = []
  private var limits: [UInt64] = []
  private var spans: [Range<Int>] = []
  /// Whether the odometer left out a value or a draw.
  private(set) var isNarrowed = false
  /// The number of places of the odometer that a sweep has been asked about.
  private var looks = 0
  private var lookedBehind: Int?
  /// The digit that the odometer turned last.
  private var turned = 0

  /// The greatest number of schedule lines that a case keeps; further ones are only counted.
  static let maximumSchedule = 500

  var labels: Set<String> = []
  /// Requests of the test that have no meaning, each once.
  private(set) var complaints: [String] = []
  /// The number of `withoutSteps` calls in progress; while it is above 0, no step is recorded.
  var muted = 0
  private var recordedSteps: [Step] = []
  private var scheduled = 0
  var journal: String?
  /// The virtual time in milliseconds, if the case has a virtual clock.
  var elapsed: (@Sendable () -> Int64)?

  init(seed: UInt64) {
    source = .random
    random = SplitMix(seed: seed)
  }

  init(replaying draws: [UInt64]) {
    source = .replay
    script = draws
  }

  init(depth: Int, width: UInt64) {
    source = .odometer
    self.depth = depth
    self.width = max(1, width)
  }

  var recorded: [UInt64] { Array(draws.prefix(position)) }

  /// The case in the form that the shrinker uses.
  var failingCase: ShrinkCase {
    ShrinkCase(draws: recorded, limits: Array(limits.prefix(position)), spans: spans)
  }

  /// Whether the case has used every digit that the odometer has.
  var isFull: Bool { position >= Self.maximumDraws }

  /// Whether the case asked for more draws than a case may make.
  var isOverrun: Bool { asked > Self.maximumDraws }

  mutating func draw(upTo limit: UInt64) -> UInt64 {
    guard limit > 0 else { return 0 }
    asked += 1
    guard !isOverrun else { return overrun(upTo: limit) }
    switch source {
    case .random:
      return record(random.draw(upTo: limit), upTo: limit)
    case .replay:
      return record(position < script.count ? min(script[position], limit) : 0, upTo: limit)
    case .odometer:
      return turn(upTo: limit)
    }
  }

  /// Draws 0 or 1; a random draw is 1 with the chance of `part` in `whole`.
  mutating func drawFlag(_ part: UInt64, in whole: UInt64) -> Bool {
    guard source == .random, asked < Self.maximumDraws else { return draw(upTo: 1) == 1 }
    asked += 1
    return record(random.uniform(upTo: whole - 1) < part ? 1 : 0, upTo: 1) == 1
  }

  /// Returns a draw that is not recorded, and is the same in every run of the case.
  private mutating func overrun(upTo limit: UInt64) -> UInt64 {
    if source == .odometer { isNarrowed = true }
    if asked <= Self.zeroedDraws { return 0 }
    if asked > Self.endlessDraws, let endless { endless(recorded) }
    var mix = SplitMix(seed: UInt64(asked))
    switch mix.next() >> 62 {
    case 0: return 0
    case 1: return limit
    default: return mix.uniform(upTo: limit)
    }
  }

  private mutating func record(_ value: UInt64, upTo limit: UInt64) -> UInt64 {
    draws.append(value)
    limits.append(limit)
    position += 1
    return value
  }

  private mutating func turn(upTo limit: UInt64) -> UInt64 {
    if position < draws.count {
      position += 1
      return min(draws[position - 1], limit)
    }
    guard position < depth else {
      isNarrowed = true
      return 0
    }
    if limit >= width { isNarrowed = true }
    return record(0, upTo: min(limit, width - 1))
  }

  /// Returns whether a sweep takes this case; it leaves out only cases of the odometer.
  ///
  /// `sweep` returns whether the sweep takes the place with a number, from 0.
  mutating func take(_ sweep: (Int) -> Bool) -> Bool {
    guard source == .odometer else { return true }
    // Only a draw after the look has changed, so this is the same place, and it was taken.
    if let lookedBehind, turned >= lookedBehind { return true }
    lookedBehind = position
    defer { looks += 1 }
    return sweep(looks)
  }

  /// Advances the odometer to the next case; returns `false` after the last one.
  mutating func advance() -> Bool {
    draws.removeLast(draws.count - position)
    limits.removeLast(limits.count - position)
    while let last = draws.indices.last, draws[last] >= limits[last] {
      draws.removeLast()
      limits.removeLast()
    }
    guard let last = draws.indices.last else { return false }
    draws[last] += 1
    turned = last
    position = 0
    asked = 0
    if !labels.isEmpty { labels.removeAll(keepingCapacity: true) }
    return true
  }

  /// The recorded steps, in order.
  var steps: [Step] {
    let left = scheduled - Self.maximumSchedule
    guard left > 0 else { return recordedSteps }
    return recordedSteps + [Step("… and \(left) more lines of the schedule", isSchedule: true)]
  }

  mutating func complain(_ text: String) {
    if !complaints.contains(text) { complaints.append(text) }
  }

  mutating func note(_ step: Step) {
    guard muted == 0 else { return }
    if step.isSchedule {
      scheduled += 1
      if scheduled > Self.maximumSchedule { return }
    }
    recordedSteps.append(step)
  }

  mutating func openSpan() -> Int? {
    // A case of the odometer is replayed before it is shrunk, and the replay records the spans.
    guard source != .odometer else { return nil }
    spans.append(position..<position)
    return spans.count - 1
  }

  mutating func closeSpan(_ index: Int?) {
    guard let index else { return }
    spans[index] = spans[index].lowerBound..<position
  }
}

/// One line of a case's report: an action, and the state after it.
public struct Step: Hashable, Sendable {
  /// The action.
  public let text: String
  /// The resulting state, if the body gave one.
  public let state: String?
  /// The virtual time since the case's `SimulatedWorld` began; `nil` if the case has none.
  public let time: Duration?
  /// Whether the world acted and not the body.
  ///
  /// Examples are a task that ran out of turn, a request's fate, or a timer.
  public let isSchedule: Bool

  /// Creates a step.
  public init(
    _ text: String, state: String? = nil, time: Duration? = nil, isSchedule: Bool = false
  ) {
    self.text = text
    self.state = state
    self.time = time
    self.isSchedule = isSchedule
  }
}
