@_spi(Internals) internal import SessionCore

/// A place in a journal as a user names it.
enum Selector: Equatable, Sendable {
  /// `@412`.
  case sequence(UInt64)
  /// `@-1` is the last record, `@-2` the one before it.
  case fromEnd(UInt64)
  /// `2026-11-21T14:02:05Z`.
  case time(Timestamp)
  /// `14:02`, `14:02:05`: milliseconds since midnight, on the last record's day or the day before.
  case timeOfDay(Int64)
  /// `-3h`: milliseconds before the last record.
  case beforeLast(Int64)

  /// Parses a selector; returns `nil` for any other text.
  init?(_ text: String) {
    if text.hasPrefix("@-") {
      guard let number = Self.number(text.dropFirst(2)), number > 0 else { return nil }
      self = .fromEnd(number)
    } else if text.hasPrefix("@") {
      guard let number = Self.number(text.dropFirst()) else { return nil }
      self = .sequence(number)
    } else if text.hasPrefix("-") {
      guard let span = Self.span(text.dropFirst()) else { return nil }
      self = .beforeLast(span)
    } else if let time = Timestamp(text) {
      self = .time(time)
    } else if let clock = Self.clock(text) {
      self = .timeOfDay(clock)
    } else {
      return nil
    }
  }

  private static func number(_ text: Substring) -> UInt64? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? UInt64(text) : nil
  }

  /// Returns the milliseconds of `90s`, `1h30m`, `250ms`; each unit follows a whole number.
  static func span(_ text: Substring) -> Int64? {
    let units: [(String, UInt64)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    var (rest, total) = (text, UInt64(0))
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { ("0"..."9").contains($0) }
      rest = rest.dropFirst(digits.count)
      guard let value = UInt64(digits), let unit = units.first(where: { rest.hasPrefix($0.0) })
      else { return nil }
      rest = rest.dropFirst(unit.0.count)
      let (product, overflow) = value.multipliedReportingOverflow(by: unit.1)
      let (sum, tooMuch) = total.addingReportingOverflow(product)
      guard !overflow, !tooMuch else { return nil }
      total = sum
    }
    return Int64(exactly: total)
  }

  /// Parses `14:02`, `14:02:05` and `14:02:05.250` as times of a day that is known to exist.
  private static func clock(_ text: String) -> Int64? {
    let seconds = text.utf8.count == 5 ? ":00" : ""
    guard let time = Timestamp("1970-01-01T\(text)\(seconds)Z"), time.milliseconds < 86_400_000,
      text.utf8.last.map({ (48...57).contains($0) }) == true,
      text.utf8.allSatisfy({ (48...58).contains($0) || $0 == 46 })
    else { return nil }
    return time.milliseconds
  }
}

/// Turns selectors into sequences.
///
/// It reads the journal only as often as needed: not at all for sequences, once for selectors
/// relative to the end, and once again for times.
struct SelectorResolver {
  /// On which side of a time the selected record is.
  enum Side: Sendable {
    /// The first record at the time or after it; a sequence after the end if there is none.
    case atOrAfter
    /// The last record at the time or before it; 0 if there is none.
    case atOrBefore
  }

  let file: JournalFile
  let zone: TimeZoneChoice
  /// Whether records that can be read after damage count too.
  var readsOn = false

  /// How the good prefix of the journal ends.
  private struct Survey {
    var records: UInt64 = 0
    var lastSequence: UInt64 = 0
    var lastTime: Timestamp?
  }

  /// What the second pass looks for.
  private enum Target {
    case known(UInt64)
    case ordinal(UInt64)
    case time(Timestamp, Side)
  }

  /// Returns the sequence that each selector means.
  func resolve(_ selectors: [(selector: Selector, side: Side)]) throws(ToolError) -> [UInt64] {
    let needsSurvey = selectors.contains { pair in
      switch pair.selector {
      case .sequence, .time: false
      case .fromEnd, .timeOfDay, .beforeLast: true
      }
    }
    var survey = Survey()
    if needsSurvey {
      try visit { entry in
        survey.records += 1
        survey.lastSequence = entry.record.sequence
        survey.lastTime = entry.record.time
      }
    }
    let targets = selectors.map { target($0.selector, $0.side, survey) }
    return try find(targets)
  }

  private func visit(_ body: (JournalEntry) -> Void) throws(ToolError) {
    guard readsOn else {
      _ = try file.visit { entry in
        body(entry)
        return true
      }
      return
    }
    _ = try file.visitPieces(surveysDamageOnly: true) { piece in
      if case .record(let entry, _) = piece { body(entry) }
      return true
    }
  }

  private func target(_ selector: Selector, _ side: Side, _ survey: Survey) -> Target {
    switch selector {
    case .sequence(let sequence): return .known(sequence)
    case .time(let time): return .time(time, side)
    case .fromEnd(let number):
      guard number <= survey.records else { return .known(0) }
      return .ordinal(survey.records - number + 1)
    case .beforeLast(let span):
      guard let last = survey.lastTime else { return .known(0) }
      return .time(last.advanced(by: -span), side)
    case .timeOfDay(let clock):
      guard let last = survey.lastTime else { return .known(0) }
      return .time(zone.time(ofDay: clock, notAfter: last), side)
    }
  }

  private func find(_ targets: [Target]) throws(ToolError) -> [UInt64] {
    var found = targets.map { target -> UInt64? in
      switch target {
      case .known(let sequence): sequence
      case .time(_, .atOrBefore): 0
      case .time(_, .atOrAfter), .ordinal: nil
      }
    }
    let isKnown = targets.allSatisfy { if case .known = $0 { true } else { false } }
    guard !isKnown else { return found.map { $0 ?? 0 } }
    var (ordinal, last) = (UInt64(0), UInt64(0))
    try visit { entry in
      ordinal += 1
      last = entry.record.sequence
      for (index, target) in targets.enumerated() {
        switch target {
        case .known: break
        case .ordinal(let number):
          if number == ordinal { found[index] = last }
        case .time(let time, .atOrBefore):
          if entry.record.time <= time { found[index] = last }
        case .time(let time, .atOrAfter):
          if found[index] == nil, entry.record.time >= time { found[index] = last }
        }
      }
    }
    return found.map { $0 ?? (last == .max ? .max : last + 1) }
  }
}
