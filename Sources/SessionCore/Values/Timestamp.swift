/// A point in civil time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Negative before 1970. Arithmetic saturates at the bounds of `Int64` and never traps.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Creates a timestamp from milliseconds since 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Whether the left time is before the right one.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// Returns the timestamp `duration` later, earlier if negative; rounds up to milliseconds,
  /// saturates.
  public func advanced(by duration: Duration) -> Timestamp {
    advanced(by: duration.milliseconds(atLeast: .min))
  }

  /// Returns the timestamp `milliseconds` later, earlier if negative; saturates.
  package func advanced(by milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: self.milliseconds.addingSaturating(milliseconds))
  }

  /// Returns the milliseconds from `earlier` to this timestamp; saturates.
  public func milliseconds(since earlier: Timestamp) -> Int64 {
    milliseconds.subtractingSaturating(earlier.milliseconds)
  }
}

extension FixedWidthInteger {
  /// Returns the sum, or the nearest bound if it overflows.
  @inlinable
  package func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}

extension Int64 {
  /// Returns the difference, or the nearest bound if it overflows.
  package func subtractingSaturating(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other < 0 ? .max : .min
  }
}

extension Timestamp: CustomStringConvertible, LosslessStringConvertible {
  /// The time as in RFC 3339, in UTC with milliseconds: `2026-11-21T14:00:05.205Z`.
  ///
  /// A year outside 0000…9999, which RFC 3339 does not cover, is printed with its sign.
  public var description: String {
    "\(calendarDay)T\(timeOfDay)Z"
  }

  /// The date alone, in UTC: `2026-11-21`.
  public var calendarDay: String {
    let date = civilDate
    let year =
      (0...9999).contains(date.year) ? date.year.padded(to: 4) : signed(date.year)
    return "\(year)-\(date.month.padded(to: 2))-\(date.day.padded(to: 2))"
  }

  /// The date, in UTC.
  package var civilDate: CivilDate {
    CivilDate(daysSince1970: milliseconds.dividedDown(by: Timestamp.day))
  }

  /// The time of day alone, in UTC: `14:00:05.205`.
  public var timeOfDay: String {
    // Not computed from the day's first millisecond: near `Int64.min` that would overflow.
    let rest = milliseconds % Timestamp.day
    let inDay = rest < 0 ? rest + Timestamp.day : rest
    let (hour, minute) = (inDay / 3_600_000, inDay / 60_000 % 60)
    let (second, fraction) = (inDay / 1000 % 60, inDay % 1000)
    return "\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))"
      + ".\(fraction.padded(to: 3))"
  }

  /// Parses an RFC 3339 time (`2026-11-21T14:00:05.205Z`, `2026-11-21 15:00:05+01:00`).
  ///
  /// Digits below a millisecond are cut. The leap second `:60` becomes the next second. `nil` for
  /// any other text, and for dates that do not exist.
  public init?(_ text: String) {
    var scanner = DigitScanner(text)
    guard let year = scanner.number(digits: 4), scanner.take("-"),
      let month = scanner.number(digits: 2), scanner.take("-"),
      let day = scanner.number(digits: 2),
      let date = CivilDate(year: year, month: month, day: day),
      scanner.take("T") || scanner.take("t") || scanner.take(" "),
      let hour = scanner.number(digits: 2), hour < 24, scanner.take(":"),
      let minute = scanner.number(digits: 2), minute < 60, scanner.take(":"),
      let second = scanner.number(digits: 2), second <= 60,
      let fraction = scanner.fractionInMilliseconds(),
      let offset = scanner.offsetInMinutes(), scanner.isAtEnd
    else { return nil }
    let minutes = hour * 60 + minute - offset
    self.init(
      milliseconds: date.daysSince1970 * Timestamp.day + minutes * 60_000 + second * 1000
        + fraction)
  }

  /// Parses the output of `description`, in exactly that spelling; any time is allowed.
  package init?(printed text: String) {
    var scanner = DigitScanner(text)
    let isAfter = scanner.take("+")
    guard isAfter || scanner.take("-") else {
      self.init(text)
      guard description == text else { return nil }
      return
    }
    guard let year = scanner.numberOfYear(), scanner.take("-"),
      let month = scanner.number(digits: 2), scanner.take("-"),
      let day = scanner.number(digits: 2),
      let date = CivilDate(year: isAfter ? year : -year, month: month, day: day),
      scanner.take("T"), let hour = scanner.number(digits: 2), scanner.take(":"),
      let minute = scanner.number(digits: 2), scanner.take(":"),
      let second = scanner.number(digits: 2), let fraction = scanner.fractionInMilliseconds()
    else { return nil }
    // The first day that can be printed begins before the first possible millisecond.
    let inDay = hour * 3_600_000 + minute * 60_000 + second * 1000 + fraction
    guard
      let time = Int64(exactly: Int128(date.daysSince1970) * Int128(Timestamp.day) + Int128(inDay))
    else { return nil }
    self.init(milliseconds: time)
    guard description == text else { return nil }
  }

  private static var day: Int64 { 86_400_000 }

  private func signed(_ year: Int64) -> String {
    (year < 0 ? "-" : "+") + (year < 0 ? -year : year).padded(to: 4)
  }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDate {
  package let year: Int64
  /// From 1, January, to 12.
  package let month: Int64
  package let day: Int64

  init?(year: Int64, month: Int64, day: Int64) {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let length: Int64 =
      switch month {
      case 1, 3, 5, 7, 8, 10, 12: 31
      case 4, 6, 9, 11: 30
      case 2: isLeap ? 29 : 28
      default: 0
      }
    guard day >= 1, day <= length else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// Counts in eras of 400 years that begin on 1 March, so that the leap day is last.
  init(daysSince1970 days: Int64) {
    let shifted = days + 719_468
    let era = shifted.dividedDown(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// From 0, Sunday, to 6.
  package var weekday: Int {
    // Day 0 was a Thursday.
    Int((daysSince1970 % 7 + 11) % 7)
  }

  var daysSince1970: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear.dividedDown(by: 400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

/// Parses digits and separators of fixed length from the front of a text.
private struct DigitScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) {
    rest = text[...].utf8
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Character) -> Bool {
    guard let byte = character.asciiValue, rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  mutating func digit() -> Int64? {
    guard let byte = rest.first, (48...57).contains(byte) else { return nil }
    rest.removeFirst()
    return Int64(byte - 48)
  }

  mutating func number(digits: Int) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  /// Parses a year of four digits or more; nil if it is too far away for a timestamp.
  mutating func numberOfYear() -> Int64? {
    guard var value = number(digits: 4) else { return nil }
    while let next = digit() {
      value = value * 10 + next
      guard value < 1_000_000_000 else { return nil }
    }
    return value
  }

  mutating func fractionInMilliseconds() -> Int64? {
    guard take(".") else { return 0 }
    guard let first = digit() else { return nil }
    var (value, weight) = (first * 100, Int64(10))
    while let next = digit() {
      value += next * weight
      weight /= 10
    }
    return value
  }

  mutating func offsetInMinutes() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64 = take("+") ? 1 : (take("-") ? -1 : 0)
    guard sign != 0, let hours = number(digits: 2), hours < 24, take(":"),
      let minutes = number(digits: 2), minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }
}

extension Int64 {
  /// Returns the quotient rounded towards negative infinity.
  fileprivate func dividedDown(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }

  fileprivate func padded(to width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}

/// The readings of both clocks at one instant: the civil time, and a time that only runs forward.
///
/// Records hold the civil time. Delays and expiry are measured on `uptime`, so that setting the
/// device's clock does not change them.
///
/// - Requirement: REF-8
public struct ClockReading: Hashable, Sendable {
  /// The civil ("wall") time, which may jump in either direction.
  public let time: Timestamp

  /// The time of ``elapsed``, in milliseconds.
  package let uptime: Int64

  /// The time on a clock that never jumps and that runs while the system sleeps, in milliseconds.
  ///
  /// Its zero is arbitrary but fixed while the process lives.
  public var elapsed: Duration { .milliseconds(uptime) }

  /// Creates a reading from both clocks; `elapsed` is rounded up to milliseconds.
  public init(time: Timestamp, elapsed: Duration) {
    self.init(time: time, uptime: elapsed.milliseconds(atLeast: .min))
  }

  package init(time: Timestamp, uptime: Int64) {
    self.time = time
    self.uptime = uptime
  }
}
