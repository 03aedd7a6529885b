import Foundation
@_spi(Internals) import SessionCore

/// Journals for report pages: an ordinary session, and names that try to inject markup.
enum ReportJournals {
  /// A few days of a session that refreshes every half hour, fails now and then, and ends twice.
  static func life(seed: UInt64, user: Identifier, days: Int64, from start: Timestamp)
    -> [SessionRecord]
  {
    var life = Life(seed: seed, time: start)
    life.open()
    life.login(user)
    let end = start.advanced(by: days * 86_400_000)
    while life.time < end { life.hour(user) }
    life.append(.note(.closed), after: 1_000)
    return life.records
  }

  /// Names as a hostile server would send them.
  static let hostile: [String] = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>",
    "\" onmouseover=\"alert(3)",
    "' autofocus onfocus='alert(4)", "]]><!--", "\u{202E}evil\u{2066}", "nul\u{0}tab\u{9}line\n",
    "&lt;b&gt; &amp; &#39;", "\u{2028}\u{2029}", "javascript:alert(5)", "{{7*7}}${7*7}",
    String(repeating: "W", count: 40_000), "</style><style>*{display:none}", "</title>",
    "\\u003cb>",
  ]

  /// A journal in which every name is hostile.
  static func hostileRecords() -> [SessionRecord] {
    var life = Life(seed: 7, time: SampleJournal.start)
    life.open()
    life.login(Identifier(hostile[0]))
    for name in hostile {
      let context = ActiveContext(
        role: .init(id: Identifier(name), name: name),
        school: .init(id: Identifier(name), name: name),
        unit: .init(id: Identifier(name), name: name), permissions: [name])
      life.append(
        .event(.contextSwitched(.init(context: context, token: nil, trigger: .user, request: 0))),
        after: 60_000)
    }
    life.append(.event(.logout(.init(reason: .user))), after: 5_000)
    return life.records
  }
}
