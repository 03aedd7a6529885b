@_spi(Internals) internal import SessionCore
internal import SessionExplain

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

extension Selector {
  /// The forms of a selector, as an error lists them.
  static let forms =
    "@412 or 412, @-1, today, yesterday, 2026-11-21, 14:02, '2026-11-21 14:02', "
    + "2026-11-21T14:02:05Z, -90s or -3h"

  /// Returns the selector that a text probably means, in the form that is understood.
  static func nearest(to text: String) -> String? {
    guard text.utf8.count <= 40 else { return nil }
    let words = ["today", "yesterday"]
    let word = text.lowercased()
    if let near = Suggestion.nearest(to: word, in: words) { return near }
    // 21.11.2026 and 11/21/2026 name a day, but not in which order.
    let parts = word.split { !$0.isASCII || !$0.isNumber }.map(String.init)
    func filled(_ text: String) -> String { text.count == 1 ? "0" + text : text }
    let candidates: [String?] = [
      ["now", "last", "end"].contains(word) ? "@-1" : nil,
      ["first", "start", "begin"].contains(word) ? "@1" : nil,
      word.hasPrefix("@") ? nil : "@" + word,
      word.hasPrefix("-") ? nil : "-" + word,
      "-" + Self.shortUnits(word),
      word.replacing(".", with: ":").replacing("h", with: ":"),
      Self.withoutHalfOfDay(word),
      parts.count >= 3 && parts[0].count == 4
        ? "\(parts[0])-\(filled(parts[1]))-\(filled(parts[2]))" : nil,
      parts.count >= 3 && parts[2].count == 4
        ? "\(parts[2])-\(filled(parts[1]))-\(filled(parts[0]))" : nil,
      parts.count >= 3 && parts[2].count == 4
        ? "\(parts[2])-\(filled(parts[0]))-\(filled(parts[1]))" : nil,
    ]
    return candidates.compactMap(\.self).first { Selector($0) != nil }
  }

  /// Returns `3h` for `3 hours ago`.
  private static func shortUnits(_ text: String) -> String {
    var text = text.replacing("ago", with: "")
    for (long, short) in [
      ("milliseconds", "ms"), ("seconds", "s"), ("second", "s"), ("minutes", "m"), ("minute", "m"),
      ("secs", "s"), ("sec", "s"), ("mins", "m"), ("min", "m"), ("hours", "h"), ("hour", "h"),
      ("days", "d"), ("day", "d"),
    ] { text = text.replacing(long, with: short) }
    return text.replacing(" ", with: "").replacing("-", with: "")
  }

  /// Returns `14:02` for `2:02 pm`.
  private static func withoutHalfOfDay(_ text: String) -> String? {
    guard text.hasSuffix("am") || text.hasSuffix("pm") else { return nil }
    let clock = text.dropLast(2).split(separator: ":").map { $0.filter { $0 != " " } }
    guard let first = clock.first, let hour = UInt8(first), (1...12).contains(hour) else {
      return nil
    }
    let start = String(hour % 12 + (text.hasSuffix("pm") ? 12 : 0))
    let minute = clock.count > 1 ? clock[1] : "00"
    return "\(start.count == 1 ? "0" : "")\(start):\(minute)"
  }
}
