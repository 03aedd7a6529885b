@_spi(Internals) internal import SessionCore

/// The span of time whose rows are written: the same for all files.
///
/// A sequence is a place in one journal, so it cannot be a bound. A time without a day, and a span
/// such as `-3h`, count from now, because each journal has another last record.
struct RowWindow: Equatable, Sendable {
  static let options = [
    CommandSyntax.Option(
      name: "since", value: "TIME", values: .selector, help: "Write only rows from this time on"),
    CommandSyntax.Option(
      name: "until", value: "TIME", values: .selector, help: "Write only rows up to this time"),
    CommandSyntax.Option(
      name: "local", help: "Read times in this computer's zone, not UTC; rows always have UTC"),
  ]

  private let since: Timestamp?
  private let until: Timestamp?

  init(_ arguments: Arguments, _ zone: TimeZoneChoice, now: Timestamp = ToolContext.now())
    throws(ToolError)
  {
    since = try Self.bound("since", .atOrAfter, arguments, zone, now)
    until = try Self.bound("until", .atOrBefore, arguments, zone, now)
    if let since, let until, since > until {
      throw .usage(
        .conflict, "--since (\(zone.text(since))) is after --until (\(zone.text(until))).",
        next: "the earlier time as --since")
    }
  }

  /// Whether a row at this time is written; a row without a time only if there is no bound.
  func includes(_ time: Timestamp?) -> Bool {
    guard let time else { return since == nil && until == nil }
    return since.map { $0 <= time } ?? true && until.map { time <= $0 } ?? true
  }

  private static func bound(
    _ option: String, _ side: SelectorResolver.Side, _ arguments: Arguments,
    _ zone: TimeZoneChoice, _ now: Timestamp
  ) throws(ToolError) -> Timestamp? {
    guard let selector = try arguments.selector(option) else { return nil }
    switch selector {
    case .sequence, .fromEnd:
      throw .usage(
        .badValue,
        "--\(option) cannot be '\((arguments.value(option) ?? "").shortened)': that is a record of "
          + "one journal, and rows are of many.",
        next: "--\(option) today, 2026-11-21, 14:02 or -3h")
    case .timeOfDay(let clock): return zone.time(ofDay: clock, notAfter: now)
    case .beforeLast(let span): return now.advanced(by: -span)
    case .time, .day, .timeOfDayOn: return selector.moment(side, zone, now: now)
    }
  }
}
