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
