internal import SessionExplain

/// Counts ends of sessions by cause, by app version and by day, in bounded memory.
///
/// All ends are counted. Only the number of names and days is limited; what is beyond counts
/// together.
struct EndTally: Equatable, Sendable {
  /// The ends with one cause.
  struct Count: Equatable, Sendable {
    fileprivate(set) var ends: UInt64 = 0
    fileprivate(set) var certainties: [Certainty: UInt64] = [:]
    /// The ends by app version; `nil` for an app that did not give one, and for versions beyond
    /// the limit.
    fileprivate(set) var versions: [String?: UInt64] = [:]
  }

  /// The maximum number of app versions.
  static let mostVersions = 64
  /// The maximum number of days.
  static let mostDays = 4_096

  private(set) var causes: [Cause: Count] = [:]
  /// The ends without an explanation.
  private(set) var unexplained: UInt64 = 0
  private(set) var classes: [EndClass: UInt64] = [:]
  /// The ends by day, counted from 1970-01-01, and class.
  private(set) var days: [Int64: [EndClass: UInt64]] = [:]
  /// The unexpected ends by app version.
  private(set) var unexpected: [String?: UInt64] = [:]

  /// All ends.
  var ends: UInt64 { classes.values.reduce(0, +) }

  /// The ends that are problems.
  var problems: UInt64 {
    classes.reduce(0) { $0 + ($1.key.isUnexpected ? $1.value : 0) }
  }

  /// Counts an end; `cause` is `nil` if it has no explanation.
  mutating func add(
    _ cause: (Cause, Certainty)?, version: String?, day: Int64
  ) {
    let kind = cause.map { EndClass($0.0) } ?? .unexplained
    classes[kind, default: 0] += 1
    if days[day] != nil || days.count < Self.mostDays {
      days[day, default: [:]][kind, default: 0] += 1
    }
    if kind.isUnexpected { Self.count(version, in: &unexpected) }
    guard let (cause, certainty) = cause else {
      unexplained += 1
      return
    }
    causes[cause, default: Count()].ends += 1
    causes[cause, default: Count()].certainties[certainty, default: 0] += 1
    Self.count(version, in: &causes[cause, default: Count()].versions)
  }

  mutating func merge(_ other: EndTally) {
    unexplained += other.unexplained
    classes.merge(other.classes, uniquingKeysWith: +)
    for (day, ends) in other.days where days[day] != nil || days.count < Self.mostDays {
      days[day, default: [:]].merge(ends, uniquingKeysWith: +)
    }
    for (version, ends) in other.unexpected { Self.count(version, ends, in: &unexpected) }
    for (cause, count) in other.causes {
      causes[cause, default: Count()].ends += count.ends
      causes[cause, default: Count()].certainties.merge(count.certainties, uniquingKeysWith: +)
      for (version, ends) in count.versions {
        Self.count(version, ends, in: &causes[cause, default: Count()].versions)
      }
    }
  }

  private static func count(
    _ version: String?, _ ends: UInt64 = 1, in versions: inout [String?: UInt64]
  ) {
    let isKept = versions[version] != nil || versions.count < mostVersions
    versions[isKept ? version : nil, default: 0] += ends
  }

  /// The causes from the most frequent to the rarest: problems first, then other ends.
  var ranked: [(cause: Cause, count: Count)] {
    causes.sorted { left, right in
      let (one, other) = (EndClass(left.key).isUnexpected, EndClass(right.key).isUnexpected)
      guard one == other else { return one }
      return left.value.ends == right.value.ends
        ? left.key.id < right.key.id : left.value.ends > right.value.ends
    }.map { ($0.key, $0.value) }
  }
}

/// The ends of one journal that wait for their explanation.
///
/// An explanation comes after the records that follow an end, so the app version and the time of
/// the end are kept until then.
struct EndWait: Sendable {
  private var waiting: [(sequence: UInt64, version: String?, day: Int64)] = []
  private(set) var tally = EndTally()

  /// The maximum number of ends that wait.
  private static let most = 64

  mutating func end(at sequence: UInt64, version: String?, day: Int64) {
    if waiting.count == Self.most {
      let oldest = waiting.removeFirst()
      tally.add(nil, version: oldest.version, day: oldest.day)
    }
    waiting.append((sequence, version, day))
  }

  /// Counts the first waiting end at or before a sequence with its cause.
  mutating func explain(endAt sequence: UInt64, _ cause: Cause, _ certainty: Certainty) {
    guard let index = waiting.firstIndex(where: { $0.sequence <= sequence }) else { return }
    let end = waiting.remove(at: index)
    tally.add((cause, certainty), version: end.version, day: end.day)
  }

  /// Counts the rest as unexplained.
  mutating func finish() {
    for end in waiting { tally.add(nil, version: end.version, day: end.day) }
    waiting = []
  }
}

/// A comparison of a part's share with the share of all other parts, such as that of a version with
/// that of the other versions.
struct ShareComparison: Sendable {
  /// The minimum count for a share to stand out.
  static let fewEnds: UInt64 = 10
  /// The minimum ratio of the shares.
  static let ratio = 1.1
  /// The minimum difference of the shares, in standard errors of that difference.
  ///
  /// A page compares some hundred shares. By chance, one of 30,000 is so far off.
  static let standardErrors = 4.0

  private let own: (count: UInt64, of: Double)
  private let others: (count: Double, of: Double)

  /// Creates a comparison of `part` of `whole` with the rest of `total` of `ofTotal`.
  init(part: UInt64, of whole: UInt64, total: UInt64, ofTotal: UInt64) {
    own = (part, Double(whole))
    others = (Double(total - min(part, total)), Double(ofTotal - min(whole, ofTotal)))
  }

  /// Whether the own share is higher than chance and a small difference explain.
  var standsOut: Bool {
    guard own.count >= Self.fewEnds, own.of > 0, others.of > 0 else { return false }
    let (share, other) = (Double(own.count) / own.of, others.count / others.of)
    let common = (Double(own.count) + others.count) / (own.of + others.of)
    let variance = common * (1 - common) * (1 / own.of + 1 / others.of)
    let difference = share - other
    return share >= Self.ratio * other && difference > 0
      && difference * difference >= Self.standardErrors * Self.standardErrors * variance
  }
}
