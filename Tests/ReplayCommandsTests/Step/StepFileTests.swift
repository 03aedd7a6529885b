import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands

/// Reading any place of a file is the same as holding all of it in memory.
@Suite("Places in a journal")
struct StepFileTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The file's records, read from the beginning.
  private func whole(_ name: String) throws -> StepArray {
    var entries: [JournalEntry] = []
    _ = try JournalFile(path: folder.file(name), name: name).visit { entry in
      entries.append(entry)
      return true
    }
    return StepArray(entries)
  }

  private func file(_ name: String) throws -> StepFile {
    try StepFile(JournalFile(path: folder.file(name), name: name))
  }

  /// Many logins and logouts with notes between them, in batches of all sizes, some of them larger
  /// than what is read at once, and some records that are large.
  private func writeLong(_ name: String, records: Int) throws {
    var (batches, done, size, token) = ([SampleJournal.Batch](), 0, 1, UInt64(0))
    while done < records {
      var contents: [SessionRecord.Content] = []
      for index in 0..<size {
        switch (done + index) % 1_000 {
        case 10:
          token += 1
          contents.append(
            .event(
              .login(
                .init(
                  user: SampleJournal.user, method: .password,
                  token: SampleJournal.token(token, at: Int64(done)), context: SampleJournal.teacher
                ))))
        case 990: contents.append(.event(.logout(.init(reason: .user))))
        case 500:
          contents.append(
            .unknown(.init(kind: 0xEE, payload: [UInt8](repeating: 7, count: 40_000))))
        default: contents.append(.note(.clockSkew(Int64(done + index))))
        }
      }
      batches.append((Int64(done) * 10, contents))
      done += size
      size = size > 5_000 ? 1 : size * 3
    }
    try SampleJournal.write(to: folder.file(name), batches: batches)
  }

  private func compare(_ file: StepFile, _ array: StepArray, at place: UInt64) {
    let (left, right) = (file.record(at: place), array.record(at: place))
    #expect(left?.record == right?.record, "\(place)")
    #expect(left?.offset == right?.offset && left?.remainingInBatch == right?.remainingInBatch)
    guard place <= UInt64(array.entries.count) else { return }
    let isSame = file.fold(before: place) == array.fold(before: place)
    #expect(isSame, "\(place)")
  }

  @Test("JRN-1 records and folds at any place equal those of a complete pass")
  func places() throws {
    try writeLong("long.journal", records: 20_000)
    let array = try whole("long.journal")
    let count = UInt64(array.entries.count)
    let file = try file("long.journal")
    for place in [
      0, 1, 4_095, 4_096, 4_097, 9_841, 9_842, 1, count - 1, count, count + 1, 12_000, 0,
    ] {
      compare(file, array, at: place)
    }
    #expect(file.total == .exactly(count))
    #expect(file.fault == nil)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<12 {
      compare(file, array, at: .random(in: 0..<count, using: &generator))
    }
  }

  @Test("nothing is read before it is requested")
  func laziness() throws {
    try writeLong("long.journal", records: 20_000)
    let file = try file("long.journal")
    #expect(file.total == .atLeast(0))
    #expect(file.record(at: 30) != nil)
    #expect(file.total.number <= 4_096)
    #expect(file.find(.sequence(from: 5_000), from: 0, .forward) == .found(4_999))
    #expect(file.total.number <= 3 * 4_096)
    // A search that is stopped continues at the place that it reached.
    var pulses = 0
    file.pulse = { _ in
      pulses += 1
      return pulses < 2
    }
    #expect(file.last() == .stopped)
    guard case .atLeast(let read) = file.total else { return #expect(Bool(false), "all was read") }
    file.pulse = { part in
      #expect((0...1).contains(part))
      return true
    }
    #expect(file.last() == .found(file.total.number - 1))
    #expect(file.total.number > read)
  }

  @Test("RPL-1 a search finds what a complete pass finds")
  func searches() throws {
    try writeLong("long.journal", records: 20_000)
    var array = try whole("long.journal")
    let file = try file("long.journal")
    let matches: [StepMatch] = [
      .event, .end, .kinds(try KindFilter("unknown")), .token(Generation(7)), .answer(to: 3),
      .sequence(from: 15_000), .time(upTo: SampleJournal.start.advanced(by: 120_000)),
      .text("by the user"), .text("nothing like it"),
    ]
    let places: [UInt64] = [0, 5_000, 4_095, 4_096, UInt64(array.entries.count) - 1, 30_000]
    let searches = matches.flatMap { match in
      places.flatMap { place in
        [StepDirection.forward, .back].map { (match: match, place: place, direction: $0) }
      }
    }
    for search in Sweep("searches", takingOneOf: 3).places(of: searches) {
      #expect(
        file.find(search.match, from: search.place, search.direction)
          == array.find(search.match, from: search.place, search.direction), "\(search)")
    }
  }

  @Test("JRN-1 records appended to a growing journal are read batch by batch")
  func growth() throws {
    let path = folder.file("live.journal")
    var options = JournalOptions()
    options.room = .standard
    let journal = try Journal.open(at: path, options: options)
    let draft = { (number: Int64) in
      let (kind, payload) = SessionCodec.encode(.note(.clockSkew(number)), at: SampleJournal.start)
      return JournalDraft(kind: kind, payload: payload)
    }
    let file = try file("live.journal")
    #expect(file.last() == .none)
    var total: UInt64 = 0
    for round in 0..<60 {
      let size = round % 9 == 0 ? 300 : 1
      _ = try journal.append((0..<size).map { draft(Int64($0)) })
      total += UInt64(size)
      #expect(file.look())
      #expect(!file.look())
      #expect(file.total == .exactly(total))
      #expect(file.record(at: total - 1)?.record.content == .note(.clockSkew(Int64(size - 1))))
      #expect(file.record(at: total) == nil)
    }
    #expect(!file.isReplaced())
    try journal.close()
    let array = try whole("live.journal")
    #expect(UInt64(array.entries.count) == total)
    compare(file, array, at: total / 2)
    try FileManager.default.removeItem(atPath: path)
    #expect(file.isReplaced())
    compare(file, array, at: 1)
  }

  @Test("RPL-5 a faulty journal is shown up to its fault, which is reported")
  func faults() throws {
    try Journals.write(into: folder)
    let cases: [(name: String, fault: String?)] = [
      ("a.journal", nil), ("compacted.journal", nil), ("room.journal", nil),
      ("torn.journal", "unfinished commit"), ("undetermined.journal", "cannot be read"),
      ("damaged.journal", "is damaged"), ("illegal.journal", "impossible event"),
      ("undecodable.journal", "cannot be read"), ("unknown.journal", "newer version wrote"),
    ]
    for (name, fault) in cases {
      let file = try file(name)
      var array = try whole(name)
      // Nothing is shown after an event that the state does not allow: the state is unknown.
      if ["illegal.journal", "unknown.journal"].contains(name) {
        let count = name == "illegal.journal" ? 27 : 1
        array = StepArray(Array(array.entries.prefix(count)))
      }
      for place in 0...UInt64(array.entries.count) { compare(file, array, at: place) }
      #expect(file.total == .exactly(UInt64(array.entries.count)), "\(name)")
      #expect(fault.map { file.fault?.contains($0) == true } ?? (file.fault == nil), "\(name)")
    }
  }

  @Test("a journal that is cut while it is shown is reported, and its read records stay")
  func cut() throws {
    try writeLong("long.journal", records: 20_000)
    let file = try file("long.journal")
    #expect(file.last() != .none)
    let count = file.total.number
    #expect(file.record(at: 0) != nil)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: folder.file("long.journal")))
    try handle.truncate(atOffset: 2_000)
    try handle.close()
    #expect(file.record(at: 0) != nil)
    #expect(file.record(at: count / 2) == nil)
    #expect(file.refusal?.code == .damaged)
    #expect(file.fault != nil)
    #expect(file.record(at: 1) != nil)
  }
}
