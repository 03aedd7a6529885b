import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Synchronization
import Testing

@testable import SessionExplain

@Suite("Explained ends")
struct ExplainedEndsTests {
  /// A journal that grows: its records in batches, and the events of each.
  private final class Growing: Sendable {
    private struct State { var shown = 0 }

    let parts: [SessionHistory.Part]
    private let state = Mutex(State())

    init(_ parts: [SessionHistory.Part]) { self.parts = parts }

    func show(_ count: Int) { state.withLock { $0.shown = count } }

    var history: SessionHistory { history(of: state.withLock { $0.shown }) }

    func history(of count: Int) -> SessionHistory {
      SessionHistory(
        origin: .init(journal: ExplainedEndsTests.journal, salt: 7, lastSequence: UInt64(count)),
        parts: Array(parts.prefix(count)), ending: .clean)
    }
  }

  private static let journal: Identifier = "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a"

  /// Returns the parts of a history in batches of drawn sizes.
  private func parts(_ choices: Choices, _ history: History) -> [SessionHistory.Part] {
    var parts: [SessionHistory.Part] = []
    var records = history.records[...]
    while !records.isEmpty {
      let count = min(records.count, 1 + Int(choices.draw(below: 3)))
      for (place, record) in records.prefix(count).enumerated() {
        parts.append(
          .record(
            .init(
              record: record, remainingInBatch: UInt16(count - 1 - place),
              offset: 64 + record.sequence * 64)))
      }
      records = records.dropFirst(count)
    }
    return parts
  }

  /// Collects the ends of a life of the app, in which these records become durable.
  ///
  /// Several batches can become durable before the app looks.
  private func live(
    _ growing: Growing, from start: Int, to end: Int, after position: ExplainedEnd.Position?,
    _ choices: Choices
  ) async -> [ExplainedEnd] {
    let (events, continuation) = AsyncStream.makeStream(of: RecordedEvent.self)
    growing.show(start)
    let ends = ExplainedEnds(of: events, after: position) { growing.history }
    var iterator = ends.makeAsyncIterator()
    var found: [ExplainedEnd] = []
    growing.show(end)
    for event in growing.history(of: end).events where event.sequence > UInt64(start) {
      continuation.yield(event)
    }
    continuation.finish()
    while let next = await iterator.next() { found.append(next) }
    return found
  }

  @Test("RPL-8 each end is explained once, also in one batch and after the app starts again")
  func once() async throws {
    for seed in UInt64(1)...60 {
      let choices = Choices(seed: seed)
      let history = History.legal(upTo: 40)(choices)
      let growing = Growing(parts(choices, history))
      let wanted = ExplainedEnd.ends(of: growing.history(of: growing.parts.count))
      // An app stores the position of each end. It starts again between two batches.
      var position: ExplainedEnd.Position? = .init(journal: Self.journal.description, sequence: 0)
      var found: [ExplainedEnd] = []
      var start = 0
      while start < growing.parts.count {
        var end = min(growing.parts.count, start + 1 + Int(choices.draw(below: 12)))
        while end < growing.parts.count, growing.parts[end - 1].remaining > 0 { end += 1 }
        // Some records become durable while the app does not run.
        let missed = choices.chance(1, in: 3) ? end : start
        let ends = await live(growing, from: missed, to: end, after: position, choices)
        found += ends
        position = ends.last?.position ?? position
        start = end
      }
      #expect(found.map(\.position) == wanted.map(\.position), "seed \(seed)")
    }
  }

  @Test("RPL-8 without a position, the ends before the events are not explained")
  func later() async throws {
    let login = SessionEvent.login(
      .init(user: "u", method: .password, token: SampleJournal.token(1, at: 0), context: nil))
    let contents: [(SessionEvent, UInt16)] = [
      (login, 0), (.logout(.init(reason: .user)), 0), (login, 0),
      (.sessionExpired(.init(reason: .inactivity)), 1), (.logout(.init(reason: .policy)), 0),
    ]
    let parts = contents.enumerated().map { place, content in
      SessionHistory.Part.record(
        .init(
          record: SessionRecord(
            sequence: UInt64(place + 1),
            time: SampleJournal.start.advanced(by: Int64(place) * 1_000), content: .event(content.0)
          ), remainingInBatch: content.1, offset: 64 + UInt64(place) * 64))
    }
    let growing = Growing(parts)
    let found = await live(growing, from: 2, to: 5, after: nil, Choices(seed: 1))
    #expect(found.map(\.position.sequence) == [5])
    let other = ExplainedEnd.Position(journal: "another", sequence: 4)
    let all = await live(growing, from: 5, to: 5, after: other, Choices(seed: 1))
    #expect(all.map(\.position.sequence) == [2, 5])
    #expect(found.first?.labels.map(\.name) == ["cause", "certainty", "app", "platform"])
  }

  @Test("RPL-8 labels come from closed sets")
  func labels() throws {
    let causes = Set(Cause.all.map(\.id))
    let platforms = Set(Platform.words)
    for seed in UInt64(1)...40 {
      let choices = Choices(seed: seed)
      let growing = Growing(parts(choices, History.legal(upTo: 40)(choices)))
      for end in ExplainedEnd.ends(of: growing.history(of: growing.parts.count)) {
        let values = end.labels.map(\.value)
        #expect(causes.contains(values[0]) && Certainty(rawValue: values[1]) != nil)
        #expect(values[2] == "unknown" || AppVersion(values[2]) != nil)
        #expect(platforms.contains(values[3]))
      }
    }
  }

  @Test("RPL-8 the durations of refreshes are counted in the buckets of the article, and merge")
  func histogram() throws {
    let article = "Sources/SessionExplain/SessionExplain.docc/ExplainInTheApp.md"
    let page = try Repository.text(article).components(separatedBy: "\n")
    let start = try #require(page.firstIndex(of: "## Measure refreshes"))
    let rows = page[start...].filter { $0.hasPrefix("| ") }
      .dropFirst(2).map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) }
    let bounds = RefreshHistogram.bounds.map { bound in
      "\(bound.components.seconds * 1_000 + bound.components.attoseconds / 1_000_000_000_000_000)"
    }
    #expect(rows == bounds + ["none"])

    var (one, other, both) = (RefreshHistogram(), RefreshHistogram(), RefreshHistogram())
    let choices = Choices(seed: 3)
    for turn in 0..<500 {
      let duration = Duration.milliseconds(Int64(choices.draw(below: 80_000)))
      both.add(duration)
      if turn % 3 == 0 { one.add(duration) } else { other.add(duration) }
    }
    for bound in RefreshHistogram.bounds {
      both.add(bound)
      one.add(bound)
    }
    one.merge(other)
    #expect(one == both && one.count == 500 + UInt64(RefreshHistogram.bounds.count))
    var edge = RefreshHistogram()
    edge.add(.milliseconds(50))
    edge.add(.milliseconds(51))
    edge.add(.seconds(61))
    #expect(edge.counts == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1] && edge.sum == .milliseconds(61_101))
  }

  @Test("RPL-8 a refresh lasts from its request to its token, with the app and system of that time")
  func samples() throws {
    let identity = ProcessIdentity(opening: "opening-1")
    func opened(_ app: String, _ platform: Platform) -> SessionRecord.Content {
      .note(
        .opened(
          .init(
            process: 1, boot: nil, uptime: 0, app: AppVersion(app), identity: identity,
            platform: platform)))
    }
    func sent(_ generation: UInt64) -> SessionRecord.Content {
      .sent(generation, by: 1, until: SampleJournal.start)
    }
    func succeeded(_ generation: UInt64, _ request: UInt64) -> SessionRecord.Content {
      .refreshed(SampleJournal.token(generation, at: 0), request)
    }
    let contents: [(Int64, SessionRecord.Content)] = [
      (0, opened("1.0", .iOS)), (1_000, sent(1)), (1_140, succeeded(2, 2)),
      (2_000, opened("1.1", Platform(rawValue: 99))), (3_000, sent(2)), (2_900, succeeded(3, 5)),
      (4_000, succeeded(4, 99)), (5_000, sent(4)), (7_500, succeeded(5, 8)),
    ]
    let parts = contents.enumerated().map { place, content in
      SessionHistory.Part.record(
        .init(
          record: SessionRecord(
            sequence: UInt64(place + 1), time: SampleJournal.start.advanced(by: content.0),
            content: content.1), remainingInBatch: 0, offset: 0))
    }
    let history = Growing(parts).history(of: parts.count)
    let samples = history.refreshes()
    #expect(samples.map(\.sequence) == [3, 9])
    #expect(samples.map(\.duration) == [.milliseconds(140), .milliseconds(2_500)])
    #expect(samples.map(\.app) == ["1.0", "1.1"] && samples.map(\.platform) == ["iOS", "unknown"])
    #expect(history.refreshes(after: 3).map(\.sequence) == [9])
    #expect(RefreshHistogram(samples).counts == [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0])
  }
}

extension SessionHistory.Part {
  /// How many records of its batch follow it.
  fileprivate var remaining: UInt16 {
    guard case .record(let entry) = self else { return 0 }
    return entry.remainingInBatch
  }
}

/// A history of raw records, with public names only, as a program without SessionKit makes it.
@Suite("A history of raw records")
struct RawHistoryTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func history(_ name: String, upTo last: UInt64 = .max, cutting cut: UInt64? = nil) throws
    -> SessionHistory
  {
    var reader = try JournalReader(path: folder.file(name))
    var history = SessionHistory(journal: reader.identifier.description)
    while let record = try reader.next(), record.sequence <= last {
      history.append(
        payload: record.sequence == cut ? [1] : record.payload, kind: record.kind,
        sequence: record.sequence, remainingInBatch: record.remainingInBatch)
    }
    if case .damaged(let damage) = try reader.ending() { history.endDamaged(at: damage.offset) }
    return history
  }

  private func why(_ name: String, _ options: String...) throws -> String {
    let run = ToolRun.inProcess(["why", "--json", folder.file(name)] + options)
    return try #require(try run.objects().first?["cause"] as? String)
  }

  @Test("RPL-8 RPL-3 a program without SessionKit gets the answer of `why`")
  func answers() throws {
    for name in ["a.journal", "compacted.journal", "torn.journal", "illegal.journal"] {
      let history = try history(name)
      #expect(Explanation(of: history).cause.id == (try why(name)), "\(name)")
      #expect(history.isCompacted == (name == "compacted.journal"))
    }
    let empty = SessionHistory(journal: "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a")
    #expect(empty.count == 0 && !Explanation(of: empty).text.isEmpty)
  }

  @Test("RPL-6 a record that cannot be decoded is damage, and nothing is proven across it")
  func leftOut() throws {
    let whole = try history("a.journal", upTo: 15)
    // The request whose response ended the session.
    let cut = try history("a.journal", upTo: 15, cutting: 13)
    #expect(whole.damage.isEmpty && cut.damage.map(\.sequences) == [13...13])
    #expect(cut.count == whole.count - 1)
    let (proven, doubted) = (Explanation(of: whole), Explanation(of: cut))
    #expect(proven.text != doubted.text && doubted.certainty <= proven.certainty)
  }

  @Test("RPL-6 damage at the end of a journal is a place of the history")
  func end() throws {
    let damaged = try history("damaged.journal")
    #expect(damaged.damage.count == 1 && damaged.damage.first?.offset ?? 0 > 64)
  }
}
