@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Compares the answers of `why` about sessions in a simulated world with what happened there.
///
/// A proven or ruled out finding must be true in every run; a likely one in nearly all.
@Suite("Why tells the truth")
struct WhyTruthTests {
  @Test("RPL-3 proven and ruled out findings are true, and likely ones are true nearly always")
  func truth() {
    let score = LikelyScore()
    let sweep = Sweep("why and lives", takingOneOf: 2)
    expect(
      Property(
        "why tells the truth", cases: sweep.cases(of: 250),
        requiredLabels: [
          "user-logout", "lost-reply", "used-elsewhere", "revoked-elsewhere", "server-failing",
          "still-signed-in", "ruled out everyRequestAnswered", "clock set", "clock agrees",
        ], shrinkRuns: 300, regressions: .init(around: #filePath)
      ).check { choices in
        let life = try WhyLife(choices)
        defer { life.world.finish() }
        try life.live()
        try WhyTruth(life, score).check()
      })
    #expect(score.claims > sweep.cases(of: 20))
    #expect(score.hits * 10 >= score.claims * 9, "\(score.hits) of \(score.claims)")
  }
}

/// How often likely findings were true.
final class LikelyScore {
  var claims = 0
  var hits = 0
}

/// Compares the answers of a run with the observations of its witness.
struct WhyTruth {
  private let life: WhyLife
  private let choices: Choices
  private let score: LikelyScore
  private let run: WhyRun
  /// The outcome of each request, by the sequence of its note.
  private let seen: [UInt64: Witness.Refresh]
  /// The offset of the clock at each opening of the journal, by the sequence of that note.
  private let offsets: [UInt64: Int64]

  init(_ life: WhyLife, _ score: LikelyScore) throws {
    self.life = life
    self.score = score
    choices = life.choices
    run = try WhyRun(bytes: life.disk.contents(of: "session.journal") ?? [])
    var sent: [UInt64] = []
    var offsets: [UInt64: Int64] = [:]
    for record in run.entries.map(\.record) {
      if case .note(.requestSent) = record.content { sent.append(record.sequence) }
      if case .note(.opened(let opened)) = record.content {
        offsets[record.sequence] = life.offsets.last { $0.uptime <= opened.uptime }?.offset
      }
    }
    // Each request is journaled before it is sent, and they are sent in their order.
    try choices.require(
      sent.count == life.witness.refreshes.count,
      "\(sent.count) requests are journaled, \(life.witness.refreshes.count) were sent")
    seen = Dictionary(uniqueKeysWithValues: zip(sent, life.witness.refreshes))
    self.offsets = offsets
  }

  func check() throws {
    let (ends, open) = run.explanations()
    let logouts = ends.count { $0.cause == .userLogout || $0.cause == .userLogoutAfterExpiry }
    try choices.require(
      logouts == life.logouts, "\(logouts) logouts by the app, of \(life.logouts)")
    for explanation in ends + [open] {
      choices.label(explanation.cause.id)
      try check(explanation)
    }
  }

  private func check(_ explanation: Explanation) throws {
    for finding in explanation.findings.proven + explanation.findings.alsoSeen
    where finding.certainty == .proven {
      try check(finding, explanation)
    }
    for finding in explanation.findings.ruledOut { try check(finding, explanation) }
    for finding in explanation.findings.inferred where finding.certainty == .likely {
      weigh(finding)
    }
    if explanation.cause == .usedElsewhere { try checkReuse(explanation) }
    if explanation.cause == .familyRevoked {
      try require(
        life.witness.refreshes.contains { $0.code == "TOKEN_REUSED" },
        "no token was reused", explanation)
    }
    if explanation.cause == .revokedElsewhere {
      try require(
        life.wasRevoked
          || life.witness.refreshes.contains { $0.code == "TOKEN_REUSED" || $0.acted > 1 }
          || life.copies > 0 || life.witness.refreshes.contains { $0.isLost },
        "nobody revoked anything", explanation)
    }
  }

  private func require(_ condition: Bool, _ message: String, _ explanation: Explanation) throws {
    try choices.require(
      condition, "\(message)\n\(WhyText(zone: .utc, isFull: true).text(explanation))")
  }

  private func request(_ finding: Finding) -> Witness.Refresh? {
    for value in finding.values {
      if case .place(let sequence) = value, let seen = seen[sequence] { return seen }
    }
    return nil
  }

  /// The requests with a token, by the journal.
  private func requests(with generation: Generation) -> [Witness.Refresh] {
    run.entries.compactMap { entry in
      guard case .note(.requestSent(let sent)) = entry.record.content,
        sent.generation == generation
      else { return nil }
      return seen[entry.record.sequence]
    }
  }

  // This test cannot check an unknown finding, so it must know every one.
  private func check(_ finding: Finding, _ explanation: Explanation) throws {
    switch finding.what {
    case .noReplyTo:
      try require(request(finding)?.isLost == true, "the answer came", explanation)
    case .serverSaid:
      let refusal = run.entries.map(\.record).first { $0.sequence == finding.sequences.first }
      guard case .event(.refreshFailed(let failed))? = refusal?.content else { return }
      let seen = seen[failed.request]
      try require(
        seen?.status == Int(failed.failure.status) && seen?.code == failed.failure.serverCode,
        "the server said \(String(describing: seen))", explanation)
    case .everyRequestAnswered:
      choices.label("ruled out everyRequestAnswered")
      guard let start = finding.searched?.lowerBound, let end = finding.searched?.upperBound else {
        return try require(false, "no records were searched", explanation)
      }
      let all = seen.filter { (start...end).contains($0.key) }.values
      try require(!all.contains { $0.isLost }, "an answer was lost", explanation)
    case .countedFailures:
      guard case .counted(let count, _)? = finding.values.first, let token = lastToken(explanation)
      else { return }
      let failed = requests(with: token).count { !$0.isLost && $0.status >= 400 }
      try require(failed == Int(count), "\(failed) answers were failures", explanation)
    case .noLogoutByApp:
      try require(
        explanation.cause != .userLogout && explanation.reason != "user",
        "the app logged out", explanation)
    case .clockSetForward, .clockSetBack:
      choices.label("clock set")
      guard finding.sequences.count == 2, let from = offsets[finding.sequences[0]],
        let to = offsets[finding.sequences[1]], case .span(let span)? = finding.values.first
      else { return try require(false, "no openings", explanation) }
      let signed = finding.what == .clockSetForward ? span : -span
      try require(abs(to - from - signed) <= 60_000, "it was set by \(to - from)", explanation)
    case .clockAgrees:
      choices.label("clock agrees")
      let known = explanation.sequence.map { end in
        offsets.filter { $0.key <= end }.sorted { $0.key < $1.key }.map(\.value)
      }
      // Those of the session: its own number of openings, from the last on.
      guard case .number(let count)? = finding.values.first, let known else { return }
      let own = known.suffix(Int(count))
      try require(
        (own.max() ?? 0) - (own.min() ?? 0) <= 60_000 * Int64(count), "it was set", explanation)
    case .nobodyEnded, .nobodySignedOut, .noEnd:
      try require(explanation.after == .authenticated, "nobody is signed in", explanation)
    default:
      break
    }
  }

  private func lastToken(_ explanation: Explanation) -> Generation? {
    for link in explanation.chain {
      if let failed = link.fact.refreshFailed { return failed.generation }
    }
    return nil
  }

  private func weigh(_ finding: Finding) {
    guard finding.what == .rotatedReplyLost, let request = request(finding) else { return }
    score.claims += 1
    if request.acted > 0, request.isLost { score.hits += 1 }
  }

  /// The server says that a token was used: it was, in one of the named ways.
  private func checkReuse(_ explanation: Explanation) throws {
    let ways = Set(explanation.findings.inferred.map(\.what))
    let wasRepeated = life.witness.refreshes.contains { $0.acted > 1 }
    let wasLost = life.witness.refreshes.contains { $0.isLost && $0.acted > 0 }
    let wasCopied = life.copies > 0
    try require(
      (wasCopied && ways.contains(.otherCopyUsed))
        || (wasRepeated && ways.contains(.requestRepeated))
        || (wasLost && ways.contains(.lateTwin)),
      "what happened is none of what is named", explanation)
  }
}
