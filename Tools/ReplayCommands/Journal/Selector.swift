@_spi(Internals) internal import SessionCore

/// A place in a journal as a user names it.
enum Selector: Equatable, Sendable {
  /// `@412`, `412`.
  case sequence(UInt64)
  /// `@-1` is the last record, `@-2` the one before it.
  case fromEnd(UInt64)
  /// `2026-11-21T14:02:05Z`.
  case time(Timestamp)
  /// `14:02`, `14:02:05`: milliseconds since midnight, on the last record's day or the day before.
  case timeOfDay(Int64)
  /// `today`, `2026-11-21`: a whole day.
  case day(Day)
  /// `yesterday 14:02`, `2026-11-21 14:02:05`: milliseconds since midnight of a day.
  case timeOfDayOn(Day, Int64)
  /// `-3h`: milliseconds before the last record.
  case beforeLast(Int64)

  /// A day in the zone in which times are read.
  enum Day: Equatable, Sendable {
    /// The present day, or the day that is a number of days before it.
    case beforeToday(Int64)
    /// The midnight that begins the day, as if the zone were UTC.
    case date(Timestamp)
  }

  /// Whether it selects a record by its time.
  var isTime: Bool {
    switch self {
    case .sequence, .fromEnd: false
    case .time, .timeOfDay, .day, .timeOfDayOn, .beforeLast: true
    }
  }

  /// Parses a selector; returns `nil` for any other text.
  init?(_ text: String) {
    if text.hasPrefix("@-") {
      guard let number = Self.number(text.dropFirst(2)), number > 0 else { return nil }
      self = .fromEnd(number)
    } else if text.hasPrefix("@") {
      guard let number = Self.number(text.dropFirst()) else { return nil }
      self = .sequence(number)
    } else if text.hasPrefix("-") {
      guard let span = Span.milliseconds(text.dropFirst()) else { return nil }
      self = .beforeLast(span)
    } else if let number = Self.number(text[...]) {
      self = .sequence(number)
    } else if let time = Timestamp(text) {
      self = .time(time)
    } else if let clock = Self.clock(text[...]) {
      self = .timeOfDay(clock)
    } else if let day = Day(text[...]) {
      self = .day(day)
    } else if let space = text.lastIndex(where: { $0 == " " || $0 == "T" }),
      let day = Day(text[..<space]), let clock = Self.clock(text[space...].dropFirst())
    {
      self = .timeOfDayOn(day, clock)
    } else {
      return nil
    }
  }

  private static func number(_ text: Substring) -> UInt64? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? UInt64(text) : nil
  }

  /// Parses `14:02`, `9:02`, `14:02:05` and `14:02:05.250` as times of a day that is known to exist.
  private static func clock(_ text: Substring) -> Int64? {
    guard text.utf8.last.map({ (48...57).contains($0) }) == true,
      text.utf8.allSatisfy({ (48...58).contains($0) || $0 == 46 })
    else { return nil }
    let hour = text.prefix { $0 != ":" }.utf8.count == 1 ? "0" : ""
    let seconds = text.utf8.count { $0 == 58 } == 1 ? ":00" : ""
    guard let time = Timestamp("1970-01-01T\(hour)\(text)\(seconds)Z"),
      (0..<86_400_000).contains(time.milliseconds)
    else { return nil }
    return time.milliseconds
  }
}

extension Selector.Day {
  /// Parses `today`, `yesterday` and `2026-11-21`.
  fileprivate init?(_ text: Substring) {
    switch text.lowercased() {
    case "today": self = .beforeToday(0)
    case "yesterday": self = .beforeToday(1)
    default:
      guard text.utf8.count == 10, let midnight = Timestamp("\(text)T00:00:00Z") else { return nil }
      self = .date(midnight)
    }
  }

  /// Returns the time of this day's midnight as if the zone were UTC.
  fileprivate func midnight(_ zone: TimeZoneChoice, now: Timestamp) -> Timestamp {
    switch self {
    case .date(let midnight): return midnight
    case .beforeToday(let days):
      let shown = now.advanced(by: zone.offset(at: now)).milliseconds
      let day: Int64 = 86_400_000
      let rest = (shown % day + day) % day
      return Timestamp(milliseconds: shown).advanced(by: -rest).advanced(by: -days * day)
    }
  }
}

extension Selector {
  /// A selector whose day and zone are known: a moment, or none for other selectors.
  ///
  /// Of a day it is the first or the last millisecond.
  func moment(_ side: SelectorResolver.Side, _ zone: TimeZoneChoice, now: Timestamp) -> Timestamp? {
    switch self {
    case .time(let time): time
    case .day(let day):
      switch side {
      case .atOrAfter: zone.moment(day.midnight(zone, now: now))
      case .atOrBefore: zone.moment(day.midnight(zone, now: now).advanced(by: 86_399_999))
      }
    case .timeOfDayOn(let day, let clock):
      zone.moment(day.midnight(zone, now: now).advanced(by: clock))
    case .sequence, .fromEnd, .timeOfDay, .beforeLast: nil
    }
  }
}

extension TimeZoneChoice {
  /// Returns the moment at which the zone's clocks show `shown`, given as if the zone were UTC.
  ///
  /// A time that the clocks skip means the moment after the skip, one that they show twice the first.
  func moment(_ shown: Timestamp) -> Timestamp {
    // The offset before the moment and the one after it differ around a change only.
    let day: Int64 = 86_400_000
    let before = shown.advanced(by: -offset(at: shown.advanced(by: -day)))
    let after = shown.advanced(by: -offset(at: shown.advanced(by: day)))
    if before.advanced(by: offset(at: before)) == shown { return before }
    if after.advanced(by: offset(at: after)) == shown { return after }
    return before
  }

  /// Returns the latest time with this time of day that is not after `last`.
  ///
  /// `clock` is in milliseconds since midnight.
  func time(ofDay clock: Int64, notAfter last: Timestamp) -> Timestamp {
    let day: Int64 = 86_400_000
    let offset = offset(at: last)
    let shown = last.advanced(by: offset).milliseconds
    let rest = shown % day
    let midnight = shown.subtractingSaturating(rest < 0 ? rest + day : rest)
    let time = Timestamp(milliseconds: midnight).advanced(by: clock).advanced(by: -offset)
    return time <= last ? time : time.advanced(by: -day)
  }
}
