/// The date format of HTTP answers, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
  /// Formats a time in milliseconds since 1970, UTC; fractions of a second are truncated.
  package static func text(_ milliseconds: Int64) -> String {
    let seconds = floorDivision(milliseconds, 1000)
    let day = floorDivision(seconds, 86_400)
    let second = seconds - day * 86_400
    let (year, month, dayOfMonth) = civil(day)
    // Day 0 was a Thursday.
    let weekday = Int(((day % 7) + 11) % 7)
    let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0) }
    return "\(weekdays[weekday]), \(padded(dayOfMonth)) \(months[Int(month) - 1]) "
      + "\(padded(year, to: 4)) \(clock.joined(separator: ":")) GMT"
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns year, month and day of a day number in the Gregorian calendar.
  ///
  /// It counts in eras of 400 years that begin on March 1, so that the leap day is the last of its
  /// year.
  private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = day + 719_468
    let era = floorDivision(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfMonth)
  }

  private static func floorDivision(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }

  private static func padded(_ value: Int64, to width: Int = 2) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
