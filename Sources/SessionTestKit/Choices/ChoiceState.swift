/// What a `Choices` has drawn so far, and where its draws come from.
struct ChoiceState: Sendable {
  enum Source: Sendable {
    case random
    case replay
    case odometer
  }

  /// A case that asks for more draws than this *overruns*: every further draw is 0, so that no
  /// generator grows for ever.
  static let maximumDraws = 65_536
  /// Past this many a loop is at work that 0 does not end: further draws are a fixed mixture.
  static let zeroedDraws = 2 * maximumDraws
  /// Past this many nothing ends it.
  static let endlessDraws = 1 << 20

  private let source: Source
  private var random = SplitMix(seed: 0)
  private var script: [UInt64] = []
  /// The odometer's limits: how many draws it turns, and the greatest value of each.
  private var depth = ChoiceState.maximumDraws
  private var width = UInt64.max

  /// How many draws this case has made; the odometer's later digits lie behind it.
  private(set) var position = 0
  /// How many draws this case has asked for, those that were not recorded too.
  private var asked = 0
  /// Told the draws of a case that does not end.
  var endless: (@Sendable ([UInt64]) -> Never)?
  private var draws: [UInt64] = []
  private var limits: [UInt64] = []
  private var spans: [Range<Int>] = []
  /// Whether the odometer left out a value or a draw.
  private(set) var isNarrowed = false
  /// How many places of the odometer have been shown to a sweep, and behind which draw the last was.
  private var looks = 0
  private var lookedBehind: Int?
  /// The digit that the odometer turned last.
  private var turned = 0

  /// Of a case's schedule so many lines are told, and the others counted.
  static let maximumSchedule = 500

  var labels: Set<String> = []
  /// What was asked of the kit and means nothing, each once.
  private(set) var complaints: [String] = []
  /// How many are at work of whom nothing is told.
  var muted = 0
  private var told: [Step] = []
  private var scheduled = 0
  var journal: String?
  /// The virtual time, in milliseconds, where the case has one.
  var elapsed: (@Sendable () -> Int64)?
  let isTracing: Bool

  init(seed: UInt64) {
    source = .random
    random = SplitMix(seed: seed)
    isTracing = false
  }

  init(replaying draws: [UInt64], isTracing: Bool) {
    source = .replay
    script = draws
    self.isTracing = isTracing
  }

  init(depth: Int, width: UInt64) {
    source = .odometer
    self.depth = depth
    self.width = max(1, width)
    isTracing = false
  }

  var recorded: [UInt64] { Array(draws.prefix(position)) }

  /// The draws as the shrinker wants them.
  var failingCase: ShrinkCase {
    ShrinkCase(draws: recorded, limits: Array(limits.prefix(position)), spans: spans)
  }

  /// Whether the odometer has as many digits as a case may have draws, and turns every one of them.
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

  /// A draw of 0 or 1, which random draws weigh.
  mutating func drawFlag(_ part: UInt64, in whole: UInt64) -> Bool {
    guard source == .random, asked < Self.maximumDraws else { return draw(upTo: 1) == 1 }
    asked += 1
    return record(random.uniform(upTo: whole - 1) < part ? 1 : 0, upTo: 1) == 1
  }

  /// A draw that is recorded nowhere, and the same in every run of the case.
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

  /// Whether a sweep takes this case; it leaves out cases of the odometer only.
  mutating func take(_ sweep: Sweep) -> Bool {
    guard source == .odometer else { return true }
    // Only what is drawn behind the look has changed: it is the place that was taken.
    if let lookedBehind, turned >= lookedBehind { return true }
    lookedBehind = position
    defer { looks += 1 }
    return sweep.takes(looks)
  }

  /// Turns the odometer to the next case; `false` when it has shown them all.
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

  /// What was told, in order.
  var steps: [Step] {
    let left = scheduled - Self.maximumSchedule
    return left > 0
      ? told + [Step("… and \(left) more lines of the schedule", isSchedule: true)] : told
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
    told.append(step)
  }

  mutating func openSpan() -> Int? {
    // The odometer's cases are drawn again before one is shrunk.
    guard source != .odometer else { return nil }
    spans.append(position..<position)
    return spans.count - 1
  }

  mutating func closeSpan(_ index: Int?) {
    guard let index else { return }
    spans[index] = spans[index].lowerBound..<position
  }
}
