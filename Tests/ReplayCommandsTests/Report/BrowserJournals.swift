import Foundation
@_spi(Internals) import SessionCore
import Testing

/// Writes the journals for the pages of `Tools/browser/run` into the folder that it names.
@Suite("Journals for a browser")
struct BrowserJournals {
  private static let place = ProcessInfo.processInfo.environment["SESSION_BROWSER_JOURNALS"]

  @Test("a life, a hostile one, many, and a long one", .enabled(if: place != nil))
  func journals() throws {
    let place = try #require(Self.place)
    let start = SampleJournal.start
    try SampleJournal.write(to: "\(place)/sample.journal")
    try SampleJournal.write(
      to: "\(place)/life.journal",
      records: ReportJournals.life(seed: 5, user: SampleJournal.user, days: 3, from: start))
    try SampleJournal.write(
      to: "\(place)/hostile.journal", records: ReportJournals.hostileRecords())
    try SampleJournal.write(
      to: "\(place)/long.journal",
      records: ReportJournals.life(seed: 9, user: "u-9", days: 250, from: start))
    let fleet = ProcessInfo.processInfo.environment["SESSION_BROWSER_FLEET"].flatMap(UInt64.init)
    try FileManager.default.createDirectory(
      atPath: "\(place)/fleet", withIntermediateDirectories: false)
    for index in 0..<(fleet ?? 400) {
      try SampleJournal.write(
        to: "\(place)/fleet/phone-\(index).journal", records: ReportJournals.phone(index))
    }
    try FileManager.default.createDirectory(
      atPath: "\(place)/many", withIntermediateDirectories: false)
    for index in 0..<200 as Range<UInt64> {
      try SampleJournal.write(
        to: "\(place)/many/phone-\(index).journal",
        records: ReportJournals.life(
          seed: index, user: Identifier("u-\(index)"), days: 1 + Int64(index % 3), from: start))
    }
  }
}
