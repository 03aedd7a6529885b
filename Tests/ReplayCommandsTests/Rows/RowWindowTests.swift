@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands

@Suite("RPL-7 the span of time of rows")
struct RowWindowTests {
  private static let now = Timestamp("2026-11-26T10:30:00.000Z") ?? Timestamp(milliseconds: 0)

  private func window(_ words: [String]) throws -> RowWindow {
    try RowWindow(
      try Arguments(words + ["a.journal"], syntax: EndsCommand.syntax), .utc, now: Self.now)
  }

  /// Whether a row at this time is written with these options.
  private func includes(_ words: [String], _ time: String) throws -> Bool {
    let moment: Timestamp = try #require(Timestamp(time))
    return try window(words).includes(moment)
  }

  @Test("each form of a time is a bound that belongs to the span")
  func forms() throws {
    for (text, first) in [
      ("today", "2026-11-26T00:00:00.000Z"), ("yesterday", "2026-11-25T00:00:00.000Z"),
      ("2026-11-22", "2026-11-22T00:00:00.000Z"), ("10:27", "2026-11-26T10:27:00.000Z"),
      // A time of day that is still to come is that of the day before.
      ("10:31", "2026-11-25T10:31:00.000Z"), ("-3h", "2026-11-26T07:30:00.000Z"),
      ("2026-11-22 9:05", "2026-11-22T09:05:00.000Z"),
      ("2026-11-22T09:05:00+01:00", "2026-11-22T08:05:00.000Z"),
    ] {
      let time = try #require(Timestamp(first))
      let window = try window(["--since", text])
      #expect(window.includes(time), "\(text)")
      #expect(!window.includes(time.advanced(by: -1)), "\(text)")
    }
    #expect(try includes(["--until", "2026-11-22"], "2026-11-22T23:59:59.999Z"))
    #expect(try !includes(["--until", "2026-11-22"], "2026-11-23T00:00:00.000Z"))
    #expect(try includes(["--until", "-3h"], "2026-11-26T07:30:00.000Z"))
    #expect(try !includes(["--until", "-3h"], "2026-11-26T07:30:00.001Z"))
  }

  @Test("a row without a time is written only if there is no bound")
  func unknownTime() throws {
    #expect(try window([]).includes(nil))
    #expect(try !window(["--since", "today"]).includes(nil))
    #expect(try !window(["--until", "today"]).includes(nil))
  }

  @Test("RPL-5 a sequence, no time at all, and an end before the beginning are refused")
  func refusals() throws {
    for (words, name) in [
      (["--since", "5"], ToolError.Name.badValue), (["--until", "@-1"], .badValue),
      (["--since", "soon"], .badSelector),
      (["--since", "today", "--until", "yesterday"], .conflict),
    ] {
      let error = #expect(throws: ToolError.self) { try window(words) }
      #expect(error?.name == name, "\(words)")
      #expect(error?.code == .usage)
      #expect(error?.next?.isEmpty == false)
    }
  }
}
