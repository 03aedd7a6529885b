import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import SessionTesting
import Testing

@testable import ReplayCommands

@Suite("A journal that is counted in two halves")
struct LaterHalfTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func answer(_ path: String, halving: UInt64) -> String {
    let reading = StatsReading(
      files: .init(files: [JournalFile(path: path, name: "x.journal")]), grouping: nil, since: nil,
      until: nil, zone: .utc, interruption: Interruption(), halving: halving)
    let outcome = reading.run(ProgressBar(nil))
    return outcome.report.json(grouping: nil) + "\(outcome.files.errors)"
  }

  @Test("RPL-4 the figures are those of a count in one thread, also of damaged journals")
  func figures() throws {
    let sweep = Sweep("two halves", takingOneOf: 3)
    let report = Property(
      "stats in two halves", cases: sweep.cases(of: 200),
      regressions: RegressionFolder()
    )
    .check { choices in
      let seed = UInt64(choices.draw(below: 1_000_000))
      var history = try StatsHistory(seed: seed, records: choices.draw(in: 4...400)).records
      // Open requests, revocations and unknown records before the later half forbid to add it.
      if !choices.chance(1, in: 4) {
        history.removeAll { record in
          switch record.content {
          case .event, .snapshot: false
          case .note, .unknown: true
          }
        }
      }
      let first = history.first?.sequence ?? 1
      let isCompacted = if case .snapshot? = history.first?.content { true } else { false }
      if choices.chance(1, in: 4), leaveRequestOpen(in: &history, from: first, choices) {
        choices.label("a request that is answered late")
      }
      var frames = history.map { record in
        let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
        return CraftedJournals.Frame(kind: kind, payload: payload, sequence: record.sequence)
      }
      for index in frames.indices { frames[index].sequence = first + UInt64(index) }
      var left = 0
      for index in frames.indices.dropFirst(isCompacted ? 1 : 0) {
        if left == 0 { left = min(frames.count - index, choices.draw(in: 1...4)) }
        left -= 1
        frames[index].remaining = UInt16(left)
      }
      // A record that cannot be decoded, or an event that is left out.
      if choices.chance(1, in: 6), frames.count > 3 {
        let index = choices.draw(in: 1...frames.count - 1)
        if choices.chance(1, in: 2) {
          frames[index].payload.removeLast()
        } else {
          frames[index].kind = SessionEvent.Kind.logout.rawValue
        }
      }
      var bytes = CraftedJournals.file(
        first: isCompacted ? first + 1 : first, snapshot: isCompacted, frames)
      if choices.chance(1, in: 4), bytes.count > 64 {
        bytes[choices.draw(in: 64...bytes.count - 1)] ^= 1 << UInt8(choices.draw(below: 8))
      }
      let path = try folder.write(bytes, to: "x.journal")
      choices.label(try isDivided(path) ? "two halves" : "one")
      let (one, two) = (answer(path, halving: .max), answer(path, halving: 0))
      try choices.require(one == two, "one thread:\n\(one)\ntwo:\n\(two)")
    }
    expect(report)
    for (label, least) in ["two halves": 40, "a request that is answered late": 15] {
      #expect(
        report.coverage == .replayed || report.labels[label] ?? 0 >= sweep.cases(of: least),
        "\(report.labels)")
    }
  }

  /// Adds a request to the first quarter of a history; an event of the last quarter names it.
  ///
  /// The logins between them end the request for the fold, and only the count knows when it was sent.
  /// Returns `false` if there is no such event.
  private func leaveRequestOpen(
    in history: inout [SessionRecord], from first: UInt64, _ choices: Choices
  ) -> Bool {
    let place = choices.draw(in: 1...1 + history.count / 4)
    let answers = history.indices.dropFirst(max(place, history.count * 3 / 4)).filter {
      history[$0].event?.kind == .refreshSucceeded || history[$0].event?.kind == .refreshFailed
    }
    guard !answers.isEmpty else { return false }
    let answer = history[answers[choices.draw(in: 0...answers.count - 1)]]
    let request = first + UInt64(place)
    let event: SessionEvent
    switch answer.event {
    case .refreshSucceeded(let old):
      event = .refreshSucceeded(
        .init(
          token: old.token, trigger: old.trigger, attempt: old.attempt, isRotated: old.isRotated,
          request: request))
    case .refreshFailed(let old):
      event = .refreshFailed(
        .init(
          generation: old.generation, trigger: old.trigger, attempt: old.attempt,
          failure: old.failure, retryAt: old.retryAt, request: request))
    default: return false
    }
    history = history.map { record in
      record.sequence != answer.sequence
        ? record
        : SessionRecord(sequence: record.sequence, time: record.time, content: .event(event))
    }
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: .none, trigger: .schedule, attempt: 1, process: 7,
      deadline: answer.time)
    let time = answer.time.advanced(by: -Int64(choices.draw(in: 0...9_000)))
    history.insert(
      SessionRecord(sequence: request, time: time, content: .note(.requestSent(sent))), at: place)
    return true
  }

  /// Whether the later half of the file has a count that the first half accepts.
  private func isDivided(_ path: String) throws -> Bool {
    let file = JournalFile(path: path, name: "x.journal")
    var reader = try file.open()
    let half = FileCount.later(of: file, reader, above: 0)
    let later = try #require(half)
    defer { later.cancel() }
    var count = FileCount(StatsFold(by: nil), by: nil)
    var isDivided = false
    try reader.visit { frame, payload in
      if later.begins(with: frame) {
        isDivided = later.isComplete { count.isContinued(at: frame, payload, by: $0) }
      }
      do throws(PayloadFold.Failure) {
        try count.take(frame, payload)
      } catch {
        return false
      }
      return !isDivided
    }
    return isDivided
  }

  @Test("RPL-4 the later half begins at a login that begins a batch, after the middle")
  func begin() throws {
    let history = try StatsHistory(seed: 7, records: 300, mayBeCompacted: false).records
    try SampleJournal.write(to: folder.file("x.journal"), records: history)
    let file = JournalFile(path: folder.file("x.journal"), name: "x.journal")
    let reader = try file.open()
    let half = FileCount.later(of: file, reader, above: 0)
    let later = try #require(half)
    #expect(later.isComplete())
    var begins: [(offset: UInt64, isLogin: Bool)] = []
    _ = try file.visit { entry in
      if later.offset == entry.offset {
        begins.append((entry.offset, entry.record.event?.kind == .login))
      }
      return true
    }
    let end = reader.frozenEnd ?? 0
    #expect(begins.count == 1 && begins[0].isLogin && begins[0].offset > end / 2)
    let none = FileCount.later(of: file, reader, above: end + 1)
    let isNone = none == nil
    #expect(isNone)
    later.cancel()
  }
}
