@_spi(Internals) import SessionCore

extension Timestamp {
  /// Reads an HTTP date in any of its three forms (RFC 9110 §5.6.7).
  ///
  /// It is `nil` for other texts. Years of two digits are 1970 to 2069.
  package init?(httpDate text: String) {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
    let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
    if words.count == 6, words[5] == "GMT" {
      parts = (words[1], words[2], words[3], words[4])
    } else if words.count == 5 {
      parts = (words[2], words[1], words[4], words[3])
    } else {
      return nil
    }
    guard let month = Self.months.firstIndex(of: String(parts.month)) else { return nil }
    let year =
      parts.year.count == 2 ? (parts.year < "70" ? "20" : "19") + parts.year : String(parts.year)
    let twoDigits = { (text: String) in text.count == 1 ? "0" + text : text }
    self.init(
      "\(year)-\(twoDigits(String(month + 1)))-\(twoDigits(String(parts.day)))T\(parts.time)Z")
  }

  /// The time as an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`; milliseconds are cut.
  package var httpDate: String {
    let (date, day) = (civilDate, calendarDay)
    return "\(Self.weekdays[date.weekday]), \(day.suffix(2)) \(Self.months[Int(date.month) - 1]) "
      + "\(day.dropLast(6)) \(timeOfDay.prefix(8)) GMT"
  }

  private static var weekdays: [String] { ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] }

  private static var months: [String] {
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  }
}
