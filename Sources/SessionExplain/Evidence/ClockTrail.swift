@_spi(Internals) import SessionCore

/// What the records say of the civil clock.
///
/// Between two openings in one start of the system the civil time must have moved as far as the clock
/// that never jumps; and no record is written before the one above it.
struct ClockTrail: Sendable {
  /// The civil time was set between two records.
  struct Jump: Hashable, Sendable {
    /// The records between which it was.
    let from: UInt64
    let to: UInt64
    /// The time of the first of them.
    let start: Timestamp
    /// In milliseconds; forward where above 0.
    let span: Int64
    let isStepBack: Bool
  }

  /// Less is no jump: processes and answers take their time.
  static let tolerance: Int64 = 60_000
  private static let kept = 8

  /// The last jumps.
  private(set) var jumps: [Jump] = []
  /// How many openings there were, and how many pairs of neighbours agreed with each other.
  private(set) var openings: UInt64 = 0
  private(set) var agreeing: UInt64 = 0
  /// How far apart the clocks of any two of those were at most, in milliseconds.
  private(set) var deviation: Int64 = 0
  /// Whether two openings were in different starts of the system.
  private(set) var hasOtherBoots = false
  /// Whether one of two openings does not name the start of the system.
  private(set) var hasUnnamedBoots = false
  /// The first and the last of the openings that agreed with the one before.
  private(set) var firstAgreeing: UInt64 = 0
  private(set) var lastAgreeing: (sequence: UInt64, time: Timestamp)?
  /// What the journal last noted of the server's clock, and where.
  private(set) var skew: Int64?
  private(set) var skewPlace: UInt64 = 0

  /// By how far the civil clock has moved away from the other one since the first opening, and at most.
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
    // An uptime that has become less is another start, whatever its name.
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
    // A step back that two records show is the same one.
    jumps.removeAll { $0.isStepBack && $0.from >= opening.sequence && difference < 0 }
    add(
      Jump(
        from: opening.sequence, to: record.sequence, start: opening.time, span: difference,
        isStepBack: false))
  }

  private mutating func add(_ jump: Jump) {
    if jumps.count == Self.kept { jumps.removeFirst() }
    jumps.append(jump)
  }

  /// By how much the civil clock was set forward behind `fact`, at least: what a jump between two
  /// openings may have been before it is at most the time that passed from the first of them to it.
  func forward(since fact: Fact) -> Int64 {
    var sum: Int64 = 0
    for jump in jumps where !jump.isStepBack && jump.to > fact.sequence {
      let before = jump.from < fact.sequence ? fact.time.milliseconds(since: jump.start) : 0
      sum = sum.addingSaturating(
        jump.span > 0 ? max(0, jump.span.subtractingSaturating(max(0, before))) : jump.span)
    }
    return max(0, sum)
  }

  /// Whether the civil clock was, or may have been, set back behind a record.
  func mayGoBack(behind sequence: UInt64) -> Bool {
    let later = jumps.filter { $0.to > sequence }
    return later.count == Self.kept || later.contains { $0.span < 0 }
  }

  /// Whether the civil clock was, or may have been, set behind a record.
  func mayJump(behind sequence: UInt64) -> Bool { jumps.contains { $0.to > sequence } }

  /// Begins to count anew, and still knows the last opening, which what comes is held against, and how
  /// far the server's clock was.
  mutating func restart() {
    let (kept, before) = (opening, last)
    let (skew, skewPlace) = (skew, skewPlace)
    self = ClockTrail()
    (opening, last) = (kept, before)
    // Noted only when it changes: what was noted last holds.
    (self.skew, self.skewPlace) = (skew, skewPlace)
    openings = kept == nil ? 0 : 1
  }
}
