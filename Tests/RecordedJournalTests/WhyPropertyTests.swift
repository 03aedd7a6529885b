@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain
@testable import SessionJSON

@Suite("Properties of why")
struct WhyPropertyTests {
  /// Records in drawn batches.
  private func batches(_ records: [SessionRecord], _ choices: Choices) -> WhyRun {
    var entries: [JournalEntry] = []
    var left = 0
    for (index, record) in records.enumerated() {
      if left == 0 { left = min(records.count - index, choices.draw(in: 1...4)) }
      left -= 1
      entries.append(JournalEntry(record: record, offset: 0, remainingInBatch: UInt16(left)))
    }
    return WhyRun(entries)
  }

  private func check(_ explanation: Explanation, _ choices: Choices) throws {
    let text = WhyText(zone: .utc, isFull: true).text(explanation)
    let isPrintable = text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isUnprintable }
    try choices.require(isPrintable, "an answer has a character that moves the cursor")
    try choices.require(!text.contains("{}"), "a place of a sentence is empty: \(text)")
    try choices.require(text.utf8.count < 65_536, "an answer of \(text.utf8.count) bytes")
    let sequences = explanation.chain.map(\.fact.sequence)
    try choices.require(
      zip(sequences, sequences.dropFirst()).allSatisfy(>), "the chain is in no order")
    let isHonest = explanation.findings.ruledOut.allSatisfy { $0.what.topic != nil }
    try choices.require(isHonest, "what is ruled out speaks against nothing")
    let rest =
      explanation.findings.proven + explanation.findings.inferred + explanation.findings.alsoSeen
    try choices.require(
      rest.allSatisfy { $0.what.topic == nil }, "what rules out stands among the findings")
    let places = (rest + explanation.findings.ruledOut).allSatisfy { finding in
      var rest = finding.what.sentence[...]
      var places = 0
      while let brace = rest.firstIndex(of: "{") {
        places += 1
        rest = rest[brace...].dropFirst(2)
      }
      return places == finding.values.count
    }
    try choices.require(places, "a sentence has not as many values as places")
    for root in explanation.root { try check(root, choices) }
  }

  @Test("RPL-3 any legal history has an answer of bounded length for each end and each record")
  func legal() {
    expect(
      Property("why of legal histories", cases: 80, regressions: RegressionFolder()).check {
        choices in
        let run = batches(History.legal()(choices).records, choices)
        let (ends, open) = run.explanations()
        for explanation in ends + [open] { try check(explanation, choices) }
        guard !run.entries.isEmpty else { return }
        let index = choices.draw(in: 0...run.entries.count - 1)
        try check(run.answer(at: run.entries[index].record.sequence), choices)
      })
  }

  @Test("RPL-3 any records have an answer, up to the first that cannot be folded")
  func total() {
    expect(
      Property("why of any records", cases: 80, regressions: RegressionFolder()).check { choices in
        let (ends, open) = batches(History.any()(choices).records, choices).explanations()
        for explanation in ends + [open] { try check(explanation, choices) }
      })
  }

  @Test("RPL-3 a record that may be skipped changes no cause and increases no certainty")
  func unknown() throws {
    for cause in Cause.all where cause.class == .end {
      let whole = try WhyRun(cause)
      let expected = whole.answer()
      for index in whole.entries.indices where !isInBatch(whole, index) {
        var changed = whole
        let entry = whole.entries[index]
        // Its sequence is free: watermarks have sequences, so records have gaps.
        let unknown = SessionRecord(
          sequence: entry.record.sequence, time: entry.record.time,
          content: .unknown(.init(kind: 0xEE, payload: [])))
        changed.entries.insert(
          JournalEntry(record: unknown, offset: 0, remainingInBatch: 0), at: index)
        let answer = changed.answer()
        #expect(answer.findings.untold.contains { $0.what == .newerRecords } || index > 0)
        let isSame =
          answer.cause == expected.cause && answer.certainty <= expected.certainty
          && answer.findings.ruledOut.allSatisfy(expected.findings.ruledOut.contains)
        #expect(isSame, "\(cause.id), before @\(entry.record.sequence)")
      }
    }
  }

  /// Whether a record is not the first of its batch.
  private func isInBatch(_ run: WhyRun, _ index: Int) -> Bool {
    index > 0 && run.entries[index - 1].remainingInBatch > 0
  }

  @Test("RPL-3 why at a record equals why of the journal that ends there, except for later records")
  func prefix() throws {
    for cause in Cause.all where cause.class == .end {
      let whole = try WhyRun(cause)
      let end = try #require(whole.answer().sequence)
      let last = try #require(whole.entries.firstIndex { $0.record.sequence == end })
      let prefix = WhyRun(Array(whole.entries[...last])).answer()
      let answer = whole.answer(at: end)
      #expect(prefix.cause == answer.cause && prefix.certainty == answer.certainty)
      #expect(
        prefix.findings.proven == answer.findings.proven
          && prefix.findings.ruledOut == answer.findings.ruledOut)
    }
  }

  @Test("RPL-3 the data that is kept of a long journal is bounded")
  func bounded() throws {
    var fold = EvidenceFold()
    var evidence: Evidence?
    let token = TokenMetadata(
      generation: Generation(1), issuedAt: Timestamp(milliseconds: 0),
      expiresAt: Timestamp(milliseconds: 3_600_000), isRefreshable: true)
    let name = String(repeating: "x", count: 100_000)
    var sequence: UInt64 = 0
    func take(_ content: SessionRecord.Content) throws {
      sequence += 1
      let record = SessionRecord(
        sequence: sequence, time: Timestamp(milliseconds: Int64(sequence)), content: content)
      try fold.take(JournalEntry(record: record, offset: 0, remainingInBatch: 0)) { evidence = $0 }
    }
    try take(.event(.login(.init(user: Identifier(name), method: .password, token: token))))
    for index in 0..<4_000 {
      try take(.sent(1, by: 1, until: Timestamp(milliseconds: 0), .retry))
      let failure = RequestFailure(kind: index % 2 == 0 ? .noReply : .server)
      try take(.failed(failure, 1, sequence, .retry))
      try take(.note(.opened(.init(process: UInt32(index), boot: nil, uptime: 0))))
      try take(.note(.itemUnreadable(.user)))
    }
    try take(.event(.logout(.init(reason: .user))))
    _ = fold.finish { evidence = $0 }
    let kept = try #require(evidence)
    let trail = kept.trail
    let requests = try #require(trail.tokens.current).requests
    #expect(requests.count == TokenHistory.keptFirst + TokenHistory.keptLast)
    #expect(trail.tokens.current?.omitted == 4_000 - UInt64(requests.count))
    #expect(trail.openings.count <= 8 && trail.remarks.count <= 8)
    #expect(trail.processes.isTooMany && trail.processes.living.count <= 16)
    let text = WhyText(zone: .utc, isFull: true).text(Explainer.explain(kept))
    #expect(text.utf8.count < 16_384)
  }
}
