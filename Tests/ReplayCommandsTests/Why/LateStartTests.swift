import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// The search for the last end that begins at a late place, compared with one of all records.
@Suite("The place from which why reads")
struct LateStartTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Answers

  /// The answer of `why` if places are at least `spacing` records apart; with `max` there are none.
  private func answer(_ file: JournalFile, _ options: [String] = [], spacing: UInt64) throws
    -> CommandAnswer
  {
    var command = try WhyCommand(Arguments([file.path] + options, syntax: WhyCommand.syntax))
    command.spacing = spacing
    let run = command
    return CommandAnswer { (context) throws(ToolError) in try run.run([file], context) }
  }

  /// The evidence that answers, with all parts of it; from a late place or from the beginning.
  private func evidence(_ file: JournalFile, spacing: UInt64?) throws -> (String, isLate: Bool) {
    var reader = try file.open()
    var search = WhySearch()
    var isLate = false
    if let spacing, let later = try file.lateSearch(in: &reader, spacing: spacing) {
      (search, isLate) = (later, true)
    }
    _ = try file.visitPieces(of: &reader, surveysDamageOnly: true) { piece in
      switch piece {
      case .record(let entry, _): return search.take(entry) { _ in }
      case .unreadable(let place, let bytes):
        search.interrupt(EvidenceGap(after: search.last, offset: place.offset, bytes: bytes)) { _ in
        }
      case .lost(let range): search.interrupt(EvidenceGap(range, after: search.last)) { _ in }
      }
      return true
    }
    var found = ""
    let open = search.finish(damagedAt: nil) { found += String(describing: $0) }
    if let open { found += String(describing: open) }
    return (Self.ordered(found), isLate)
  }

  /// The text with the members of each tally in order: equal dictionaries may have different ones.
  private static func ordered(_ text: String) -> String {
    let parts = text.components(separatedBy: "tally: [")
    let tallies = parts.dropFirst().map { part in
      let end = part.firstIndex(of: "]") ?? part.endIndex
      let members = part[..<end].components(separatedBy: ", ").sorted().joined(separator: ", ")
      return members + part[end...]
    }
    return ([parts[0]] + tallies).joined(separator: "tally: [")
  }

  // MARK: Journals

  /// A file of legal records in drawn batches, with watermarks and changes of the clock.
  private func bytes(_ choices: Choices) -> [UInt8] {
    let history = History.legal(upTo: 240)(choices).records
    let hasUnknown = choices.chance(1, in: 8)
    var drift: Int64 = 0
    var frames = history.map { record in
      if choices.chance(1, in: 12) { drift += Int64(choices.draw(below: 600_000)) - 300_000 }
      guard case .unknown = record.content, !hasUnknown else {
        let (kind, payload) = SessionCodec.encode(
          record.content, at: record.time.advanced(by: drift))
        return CraftedJournals.Frame(kind: kind, payload: payload, sequence: record.sequence)
      }
      return CraftedJournals.watermark(record.sequence)
    }
    var left = 0
    for index in frames.indices {
      if left == 0 {
        left = min(frames.count - index, choices.draw(in: 1...6))
        let end = frames[index..<(index + left)].firstIndex { $0.kind == 0xFF }
        if let end { left = end - index + 1 }
      }
      left -= 1
      frames[index].remaining = UInt16(left)
    }
    return CraftedJournals.file(frames)
  }

  private func file(_ bytes: [UInt8], isRedacting: Bool = false) throws -> JournalFile {
    var file = JournalFile(path: try folder.write(bytes, to: "x.journal"), name: "x.journal")
    if isRedacting { file.redactor = Redactor(isRedacting: true, needsKey: true, chosen: nil) }
    return file
  }

  // MARK: Tests

  @Test("RPL-3 the last end has the same evidence and answer from a late place as from all records")
  func sameAnswer() {
    let sweep = Sweep("late places", takingOneOf: 6)
    let report = Property(
      "why from a late place", cases: sweep.cases(of: 150), regressions: RegressionFolder()
    ).check { choices in
      let file = try file(bytes(choices), isRedacting: choices.chance(1, in: 3))
      let spacing = choices.draw(below: 12)
      let (late, isLate) = try evidence(file, spacing: spacing)
      choices.label(isLate ? "late" : "from the beginning")
      try choices.require(late == evidence(file, spacing: nil).0, "the evidence differs:\n\(late)")
      for options in [["--full"], ["--json"]] {
        try choices.require(
          answer(file, options, spacing: spacing) == answer(file, options, spacing: .max),
          "the answer differs with \(options)")
      }
    }
    expect(report)
    #expect(
      report.coverage == .replayed || report.labels["late"] ?? 0 >= sweep.cases(of: 21),
      "\(report.labels)")
  }

  @Test("RPL-6 damage anywhere changes no answer from a late place")
  func damage() {
    expect(
      Property(
        "why of damage from a late place",
        cases: Sweep("damage before late places", takingOneOf: 6).cases(of: 150),
        regressions: RegressionFolder()
      ).check { choices in
        var bytes = bytes(choices)
        if choices.chance(1, in: 4) {
          bytes.removeLast(min(bytes.count - 64, choices.draw(in: 1...200)))
        } else if bytes.count > 64 {
          bytes[choices.draw(in: 64...bytes.count - 1)] ^= 1 << UInt8(choices.draw(below: 8))
        }
        let file = try file(bytes)
        let spacing = choices.draw(below: 12)
        choices.label(try evidence(file, spacing: spacing).isLate ? "late" : "from the beginning")
        for options in [["--full"], ["--json"]] {
          try choices.require(
            answer(file, options, spacing: spacing) == answer(file, options, spacing: .max),
            "the answer differs with \(options)")
        }
      })
  }

  @Test("RPL-3 each recorded journal has the same answer")
  func recorded() throws {
    let place = Repository.root.appending(path: "Specs/Journals")
    let names = try FileManager.default.contentsOfDirectory(
      atPath: place.path(percentEncoded: false)
    ).filter { $0.hasSuffix(".journal") }
    #expect(names.count > 50)
    for name in names {
      let path = place.appending(path: name).path(percentEncoded: false)
      let file = JournalFile(path: path, name: name)
      for options in [["--full"], ["--json"]] {
        let all = try answer(file, options, spacing: .max)
        #expect(try answer(file, options, spacing: 0) == all, "\(name)")
      }
    }
  }

  @Test(
    "RPL-3 a long journal of any sessions has the same answer",
    arguments: Sweep("long journals", takingOneOf: 6).places(of: UInt64(1)...12))
  func long(seed: UInt64) throws {
    let records = try DrawnSession.ofRequests(seed: seed, records: 5_000)
    let isCompacted = records.contains { if case .snapshot = $0.content { true } else { false } }
    var frames = records.map { record in
      let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      return CraftedJournals.Frame(kind: kind, payload: payload, sequence: record.sequence)
    }
    for index in frames.indices.dropFirst().dropLast() where index % 5 == 1 {
      frames[index].remaining = 1
    }
    let first = isCompacted ? frames[0].sequence + 1 : 1
    var bytes = CraftedJournals.file(first: first, snapshot: isCompacted, frames)
    for isDamaged in [false, true] {
      if isDamaged { bytes[bytes.count - 5_000] ^= 4 }
      let file = try file(bytes)
      #expect(try evidence(file, spacing: LateStart.usualSpacing).isLate)
      for options in [["--full"], ["--json"]] {
        #expect(
          try answer(file, options, spacing: LateStart.usualSpacing)
            == answer(file, options, spacing: .max))
      }
    }
  }

  /// Sessions of three records that follow each other, after one opening and a snapshot or not.
  private func sessions(_ count: UInt64, isCompacted: Bool) -> [UInt8] {
    let frames = frames(of: count, isCompacted: isCompacted)
    return CraftedJournals.file(first: isCompacted ? 11 : 1, snapshot: isCompacted, frames)
  }

  private func frames(of count: UInt64, isCompacted: Bool = false) -> [CraftedJournals.Frame] {
    var contents = [CraftedJournals.opened]
    for number in 1...count {
      let token = SampleJournal.token(number, at: Int64(number))
      contents += [
        .event(.login(.init(user: Identifier("u\(number)"), method: .password, token: token))),
        .failed(RequestFailure(kind: .server, status: 500), number, 0, .manual),
        .event(.logout(.init(reason: .user))),
      ]
    }
    var frames: [CraftedJournals.Frame] = []
    var first: UInt64 = 1
    if isCompacted {
      first = 11
      var fold = SessionFold()
      for sequence in UInt64(1)...10 { fold.pass(sequence) }
      frames.append(CraftedJournals.frame(.snapshot(fold), 10))
    }
    for (index, content) in contents.enumerated() {
      frames.append(CraftedJournals.frame(content, first + UInt64(index)))
    }
    return frames
  }

  @Test("RPL-3 of a long journal few records are decoded", arguments: [false, true])
  func place(isCompacted: Bool) throws {
    let bytes = sessions(4_000, isCompacted: isCompacted)
    let file = try file(bytes)
    var reader = try file.open()
    let search = try file.lateSearch(in: &reader, spacing: LateStart.usualSpacing)
    #expect(search != nil)
    var records = 0
    _ = try file.visitPieces(of: &reader, surveysDamageOnly: true) { _ in
      records += 1
      return true
    }
    #expect(records > 21 && records < 3 * LateStart.usualSpacing)
    let answer = try answer(file, ["--json"], spacing: LateStart.usualSpacing)
    #expect(try answer == self.answer(file, ["--json"], spacing: .max))
    #expect(answer.output.contains("3999"), "\(answer.output)")
  }
}

extension LateStartTests {
  @Test("RPL-3 the search asks every 1,024 records whether it goes on, also between watermarks")
  func goesOn() throws {
    // Every second sequence is a watermark, as in an app that stores one record and closes.
    let records = frames(of: 1_000)
    let all = records.enumerated().flatMap { index, frame in
      var frame = frame
      frame.sequence = UInt64(2 * index + 1)
      return [frame, CraftedJournals.watermark(frame.sequence + 1)]
    }
    let file = try file(CraftedJournals.file(all))
    for most in [1, 2, .max] {
      var calls = 0
      var reader = try file.open()
      let search = try file.lateSearch(in: &reader, spacing: 100) {
        calls += 1
        return calls < most
      }
      #expect(calls == min(most, records.count / 1_024))
      #expect((search == nil) == (most <= 2))
      if search == nil { #expect(try reader.next()?.sequence == 1) }
    }
  }

  @Test(
    "RPL-3 why decodes all records if one is impossible, newer or cannot be decoded",
    arguments: ["impossible", "newer", "short"])
  func refused(kind: String) throws {
    var frames = frames(of: 4_000)
    switch kind {
    case "impossible": frames.remove(at: 30)
    case "newer": frames[30].payload[8] = 9
    default: frames[20].payload.removeLast(3)
    }
    for index in frames.indices { frames[index].sequence = UInt64(index + 1) }
    let file = try file(CraftedJournals.file(frames))
    #expect(try !evidence(file, spacing: LateStart.usualSpacing).isLate)
  }
}

extension SessionFold {
  /// Folds a note that changes nothing.
  fileprivate mutating func pass(_ sequence: UInt64) {
    do {
      try apply(
        SessionRecord(sequence: sequence, time: SampleJournal.start, content: .note(.closed)))
    } catch { Issue.record("\(error)") }
  }
}
