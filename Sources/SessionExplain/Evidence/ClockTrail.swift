@_spi(Internals) import SessionCore

/// Changes of the civil clock, as the records of a journal show them.
///
/// Between two openings in one boot of the system, the civil time must have advanced as far as the
/// uptime. No record is written before the one above it.
struct ClockTrail: Sendable {
  /// A change of the civil clock between two records.
  struct Jump: Hashable, Sendable {
    /// The sequences of the records before and after the change.
    let from: UInt64
    let to: UInt64
    /// The time of the first of them.
    let start: Timestamp
    /// The extent in milliseconds; above 0 if the clock was set forward.
    let span: Int64
    let isStepBack: Bool
  }

  /// The smallest extent that counts as a jump in milliseconds, since processes and answers take
  /// time.
  static let tolerance: Int64 = 60_000
  private static let kept = 8

  /// The last jumps.
  private(set) var jumps: [Jump] = []
  /// The number of openings, and the number of neighbouring pairs that agreed with each other.
  private(set) var openings: UInt64 = 0
  private(set) var agreeing: UInt64 = 0
  /// The greatest difference between the clocks at any two of those openings, in milliseconds.
  private(set) var deviation: Int64 = 0
  /// Whether two openings were in different boots of the system.
  private(set) var hasOtherBoots = false
  /// Whether one of two openings does not name its boot of the system.
  private(set) var hasUnnamedBoots = false
  /// The first and the last opening that agreed with the one before.
  private(set) var firstAgreeing: UInt64 = 0
  private(set) var lastAgreeing: (sequence: UInt64, time: Timestamp)?
  /// The last note about the server's clock, and its sequence.
  private(set) var skew: Int64?
  private(set) var skewPlace: UInt64 = 0

  /// How far the civil clock has moved away from the uptime since the first opening, and the
  /// extremes of it.
  private var drift: Int64 = 0
  private var drifts: ClosedRange<Int64> = 0...0

  private var last: (time: Timestamp, sequence: UInt64)?
  private var opening: Opening?

  private struct Opening: Sendable {
    let boot: Identifier
    let time: Timestamp
    let uptime: Int64
    let sequence: UInt64
  }

  mutating func take(_ record: SessionRecord) {
    if let last, last.time.milliseconds(since: record.time) > Self.tolerance {
      add(
        Jump(
          from: last.sequence, to: record.sequence, start: last.time,
          span: record.time.milliseconds(since: last.time), isStepBack: true))
    }
    last = (record.time, record.sequence)
    switch record.content {
    case .note(.opened(let opened)): open(opened, record)
    case .note(.clockSkew(let skew)): (self.skew, skewPlace) = (skew, record.sequence)
    case .event, .note, .snapshot, .unknown: break
    }
  }

  private mutating func open(_ opened: SessionNote.Opened, _ record: SessionRecord) {
    openings += 1
    guard let boot = opened.boot else {
      opening = nil
      hasUnnamedBoots = hasUnnamedBoots || openings > 1
      return
    }
    defer {
      opening = Opening(
        boot: boot, time: record.time, uptime: opened.uptime, sequence: record.sequence)
    }
    guard let opening else {
      hasUnnamedBoots = hasUnnamedBoots || openings > 1
      return
    }
    // An uptime that has become less belongs to another boot, even if the name is the same.
    guard opening.boot == boot, opened.uptime >= opening.uptime else {
      hasOtherBoots = true
      return
    }
    let difference = record.time.milliseconds(since: opening.time)
      .subtractingSaturating(opened.uptime.subtractingSaturating(opening.uptime))
    guard difference.magnitude > UInt64(Self.tolerance) else {
      agreeing += 1
      if agreeing == 1 { firstAgreeing = opening.sequence }
      lastAgreeing = (record.sequence, record.time)
      drift = drift.addingSaturating(difference)
      drifts = min(drifts.lowerBound, drift)...max(drifts.upperBound, drift)
      deviation = drifts.upperBound.subtractingSaturating(drifts.lowerBound)
      return
    }
    // Two records may show the same step back; it is counted once.
    jumps.removeAll { $0.isStepBack && $0.from >= opening.sequence && difference < 0 }
    add(
      Jump(
        from: opening.sequence, to: record.sequence, start: opening.time, span: difference,
        isStepBack: false))
  }

  private mutating func add(_ jump: Jump) {
    jumps.append(jump, keeping: Self.kept)
  }

  /// Returns by how much the civil clock was set forward after `fact`, at least.
  ///
  /// A jump between two openings may have been before `fact`. That part of it is at most the time
  /// from the first opening to `fact`.
  func forward(since fact: Fact) -> Int64 {
    var sum: Int64 = 0
    for jump in jumps where !jump.isStepBack && jump.to > fact.sequence {
      let before = jump.from < fact.sequence ? fact.time.milliseconds(since: jump.start) : 0
      sum = sum.addingSaturating(
        jump.span > 0 ? max(0, jump.span.subtractingSaturating(max(0, before))) : jump.span)
    }
    return max(0, sum)
  }

  /// Returns whether the civil clock was, or may have been, set back after a record.
  func mayGoBack(behind sequence: UInt64) -> Bool {
    let later = jumps.filter { $0.to > sequence }
    return later.count == Self.kept || later.contains { $0.span < 0 }
  }

  /// Returns whether the civil clock was, or may have been, set after a record.
  func mayJump(behind sequence: UInt64) -> Bool { jumps.contains { $0.to > sequence } }

  /// Starts again for a new session.
  ///
  /// It keeps the last opening, with which the next is compared, and the last note about the
  /// server's clock.
  mutating func restart() {
    let (kept, before) = (opening, last)
    let (skew, skewPlace) = (skew, skewPlace)
    self = ClockTrail()
    (opening, last) = (kept, before)
    // The server's clock is noted only when it changes, so the last note is still valid.
    (self.skew, self.skewPlace) = (skew, skewPlace)
    openings = kept == nil ? 0 : 1
  }
}
