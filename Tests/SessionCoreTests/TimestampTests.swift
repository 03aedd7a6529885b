import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Timestamp")
struct TimestampTests {
  @Test("a timestamp prints as RFC 3339, in UTC with milliseconds")
  func printing() {
    let cases: [(Int64, String)] = [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (1_795_269_605_205, "2026-11-21T14:00:05.205Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
      (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (253_402_300_800_000, "+10000-01-01T00:00:00.000Z"), (.max, "+292278994-08-17T07:12:55.807Z"),
      (.min, "-292275055-05-16T16:47:04.192Z"),
    ]
    for (milliseconds, text) in cases {
      #expect(Timestamp(milliseconds: milliseconds).description == text)
    }
  }

  @Test("every day of 800 years equals that of Foundation's calendar and reads back")
  func everyDay() throws {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    // Foundation's calendar is Julian before 1582-10-15; from 1600 on both are Gregorian.
    for day in Sweep("days", takingOneOf: 18).places(of: Int64(-135_140)...157_000) {
      let time = Timestamp(milliseconds: day * 86_400_000 + 43_200_000)
      #expect(Timestamp(time.description) == time)
      guard day % 97 == 0 else { continue }
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200)
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let (year, month) = (try #require(parts.year), try #require(parts.month))
      let expected = String(format: "%04d-%02d-%02d", year, month, try #require(parts.day))
      #expect(time.calendarDay == expected)
    }
  }

  @Test("random times within the printable years read back")
  func reading() {
    var generator = SplitMix(seed: 3)
    for _ in 0..<5_000 {
      let time = Timestamp(
        milliseconds: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
      )
      #expect(Timestamp(time.description) == time)
    }
    for _ in 0..<5_000 {
      // Printing any time never traps.
      #expect(
        Timestamp(milliseconds: Int64(bitPattern: generator.next())).description.hasSuffix("Z"))
    }
  }

  @Test("a timestamp reads offsets, fractions, small letters and the leap second")
  func forms() {
    let time = Timestamp(milliseconds: 1_795_269_605_205)
    for text in [
      "2026-11-21T14:00:05.205Z", "2026-11-21t14:00:05.205z", "2026-11-21 14:00:05.205Z",
      "2026-11-21T15:00:05.205+01:00", "2026-11-21T08:30:05.2059999999999999999999-05:30",
      "2026-11-22T13:59:05.205+23:59", "2026-11-21T14:00:05.205-00:00",
    ] { #expect(Timestamp(text) == time, "\(text)") }
    #expect(Timestamp("2026-11-21T14:00:05.2Z") == Timestamp(milliseconds: 1_795_269_605_200))
    #expect(Timestamp("2016-12-31T23:59:60Z") == Timestamp("2017-01-01T00:00:00Z"))
  }

  @Test("RPL-4 every time reads back from its printed text, and from no other")
  func printed() {
    var generator = SystemRandomNumberGenerator()
    let bounds: [Int64] = [
      .min, .min + 1, .max, .max - 1, 0, -1, 253_402_300_799_999, 253_402_300_800_000,
      -62_167_219_200_000, -62_167_219_200_001, -377_705_116_800_000,
    ]
    let random = (0..<2_000).map { shift in Int64(bitPattern: generator.next()) >> Int64(shift % 40)
    }
    for milliseconds in bounds + random {
      let time = Timestamp(milliseconds: milliseconds)
      #expect(Timestamp(printed: time.description) == time, "\(milliseconds)")
    }
    for text in [
      "", "+", "-0001-01-01T00:00:00.000", "+2026-11-21T14:00:05.205Z", "2026-11-21T14:00:05Z",
      "2026-11-21T14:00:05.2050Z", "2026-11-21 14:00:05.205Z", "2026-11-21T15:00:05.205+01:00",
      "+010000-01-01T00:00:00.000Z", "+292278994-08-17T07:12:55.808Z", "-0000-01-01T00:00:00.000Z",
      "+99999999999-01-01T00:00:00.000Z", "+10000-02-30T00:00:00.000Z",
      "+10000-01-01T24:00:00.000Z", "+10000-01-01T00:00:00.000Zz",
    ] { #expect(Timestamp(printed: text) == nil, "\(text)") }
  }

  @Test("any other text is not a time")
  func refused() {
    for text in [
      "", "2026", "2026-11-21", "2026-11-21T14:00:05", "2026-11-21T14:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
      "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
      "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00+0100",
      "2026-01-01T00:00:00Zx", " 2026-01-01T00:00:00Z", "+2026-01-01T00:00:00Z",
      "2026-01-01T00:00:00Z\n", "２０２６-01-01T00:00:00Z", "2026-1-01T00:00:00Z",
    ] { #expect(Timestamp(text) == nil, "\(text)") }
  }

  @Test("arithmetic stops at the bounds")
  func saturation() {
    let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
    #expect(last.advanced(by: 1) == last)
    #expect(last.advanced(by: .min).milliseconds == -1)
    #expect(first.advanced(by: -1) == first)
    #expect(first.advanced(by: .min) == first)
    #expect(last.milliseconds(since: first) == .max)
    #expect(first.milliseconds(since: last) == .min)
    #expect(first < last)
    #expect(Generation(.max).next == Generation(.max))
    #expect(Generation.none.next == Generation(1))
    let inverted = TokenMetadata(
      generation: .none, issuedAt: last, expiresAt: first, isRefreshable: false)
    #expect(inverted.lifetime == .zero)
    let endless = TokenMetadata(
      generation: .none, issuedAt: first, expiresAt: last, isRefreshable: false)
    #expect(endless.lifetime == .milliseconds(Int64.max))
    #expect(endless.lifetimeMilliseconds == .max)
  }

  @Test("a timestamp moves by a duration in whole milliseconds, rounded up and saturating")
  func advancedByDuration() {
    let time = Timestamp(milliseconds: 1_000)
    for (duration, expected) in [
      (.seconds(2), 3_000), (.nanoseconds(1), 1_001), (.seconds(-2), -1_000),
      (.nanoseconds(-1), 1_000), (.microseconds(-1_500), 999), (.zero, 1_000),
      (.seconds(Int64.max), .max), (.seconds(Int64.min), Int64.min + 1_000),
    ] as [(Duration, Int64)] {
      #expect(time.advanced(by: duration).milliseconds == expected, "\(duration)")
    }
  }
}
