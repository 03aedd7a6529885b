@_spi(Internals) internal import SessionCore

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
  /// The time from which `today` is known.
  var now = ToolContext.now()

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
      case .sequence, .time, .day, .timeOfDayOn: false
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
    case .time, .day, .timeOfDayOn:
      guard let time = selector.moment(side, zone, now: now) else { return .known(0) }
      return .time(time, side)
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
