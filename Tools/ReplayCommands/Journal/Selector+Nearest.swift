internal import SessionExplain

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
