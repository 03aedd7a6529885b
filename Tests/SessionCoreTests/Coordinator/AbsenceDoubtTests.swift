import Testing

@_spi(Internals) @testable import SessionCore

/// The machine that doubts a missing item, result by result.
@Suite("The machine AbsenceDoubt")
struct AbsenceDoubtTests {
  /// A result at an uptime, and whether it is doubted.
  private typealias Row = (missing: AbsenceDoubt.Absence?, uptime: Int64, isDoubted: Bool)

  private let token = AbsenceDoubt.Absence(item: .token, cause: .missing)
  private let user = AbsenceDoubt.Absence(item: .user, cause: .missing)
  private let owner = AbsenceDoubt.Absence(item: .token, cause: .ownerMissing)

  private func expect(_ rows: [Row], _ comment: Comment) {
    var machine = AbsenceDoubt()
    for row in rows {
      #expect(machine.doubts(row.missing, at: row.uptime) == row.isDoubted, comment)
    }
  }

  @Test("RES-7 found: nothing is doubted")
  func found() {
    expect([(nil, 0, false), (nil, 9_000, false)], "nothing is missing")
    expect([(token, 5, true)], "the first result is doubted")
    expect([(token, .min, true), (token, .min, true)], "at any uptime")
  }

  @Test("RES-7 missing: the second result counts a second after the first")
  func second() {
    // A second result that counts too early would make the third one count too early.
    expect(
      [(token, 0, true), (token, 999, true), (token, 3_999, true), (token, 6_998, true)],
      "one millisecond too early: only the result at 3,999 is the second")
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 4_000, false)], "at one second")
  }

  @Test("RES-7 missing: the third result counts three seconds after the second")
  func third() {
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 3_999, true), (token, 4_000, false)],
      "one millisecond too early, then believed")
    expect(
      [(token, 0, true), (token, 2_000, true), (token, 4_999, true), (token, 5_000, false)],
      "the pause begins with the second result")
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 4_000, false), (token, 4_000, false)],
      "it stays believed")
  }

  @Test("RES-7 missing: another item, or another cause, begins anew")
  func otherItem() {
    for other in [user, owner] {
      expect(
        [
          (token, 0, true), (token, 1_000, true), (other, 4_000, true), (token, 9_000, true),
          (token, 10_000, true), (token, 13_000, false),
        ], "the count of the first item is forgotten")
    }
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 4_000, false), (user, 4_001, true)],
      "a believed absence says nothing about another item")
  }

  @Test("RES-7 missing: a result without an absence begins anew")
  func reset() {
    expect(
      [
        (token, 0, true), (token, 1_000, true), (nil, 4_000, false), (token, 4_000, true),
        (token, 5_000, true), (token, 8_000, false), (nil, 8_001, false), (token, 9_000, true),
      ], "found, or not readable")
  }
}
