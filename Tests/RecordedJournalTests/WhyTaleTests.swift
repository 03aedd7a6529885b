@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Compares the answers of `why` about histories of two processes with what happened in them.
///
/// ``WhyTruthTests`` runs real sessions, one process at a time. This test adds rare histories:
/// responses that are noted late, clocks that are set between any two records, tails that may have
/// held the end, starts of the system without a name, and long batches.
@Suite("Why tells the truth of tales")
struct WhyTaleTests {
  @Test("RPL-3 no claim is disproved by the rest of the history")
  func truth() {
    expect(
      Property(
        "why tells the truth of tales", cases: Sweep("tales", takingOneOf: 2).cases(of: 500),
        requiredLabels: [
          "used-elsewhere", "lost-reply", "killed-in-refresh", "suspended-in-refresh",
          "revoked-elsewhere", "server-failing", "attempts-exhausted", "still-offline",
          "still-server-failing", "secrets-missing", "token-expired", "user-logout",
          "noRefusalOfUser",
          "noRefusalBefore", "tokenHadLife", "clockAgrees", "noLogoutByApp", "noEnd",
          "endedNothing",
          "countedFailures", "a late answer", "an unseen end", "goneBeforeDeadline", "suspended",
          "offline", "rotatedReplyLost",
        ], regressions: .init(around: #filePath)
      ).check { choices in
        var tale = WhyTale(choices)
        tale.live()
        try WhyTaleTruth(tale).check()
      })
  }
}

/// Compares the answers to a tale with it.
struct WhyTaleTruth {
  private let tale: WhyTale
  private let choices: Choices
  private let run: WhyRun

  init(_ tale: WhyTale) {
    self.tale = tale
    choices = tale.choices
    run = tale.history.run
  }

  func check() throws {
    var fold = SessionFold()
    for entry in run.entries { try fold.apply(entry.record) }
    let (ends, open) = run.explanations()
    if !tale.endedUnseen.isEmpty { choices.label("an unseen end") }
    for explanation in ends + [open] {
      choices.label(explanation.cause.id)
      try check(explanation)
    }
    for entry in run.entries { try check(run.answer(at: entry.record.sequence)) }
  }

  private func require(_ condition: Bool, _ message: String, _ explanation: Explanation) throws {
    try choices.require(
      condition, "\(message)\n\(WhyText(zone: .utc, isFull: true).text(explanation))")
  }

  private func check(_ explanation: Explanation) throws {
    guard let place = explanation.sequence else { return }
    let token = tale.tokens.last { $0.sequence <= place }
    let known = tale.noted.filter {
      $0.generation == token?.generation && $0.sequence <= end(of: place)
    }
    if known.contains(where: { tale.requests[$0.request]?.cameBack == true }) {
      choices.label("a late answer")
    }
    for finding in explanation.findings.proven + explanation.findings.ruledOut {
      try check(finding, explanation, known)
    }
    for finding in explanation.findings.inferred where finding.certainty == .likely {
      try weigh(finding, explanation, known)
    }
    try checkCause(explanation, known)
    try checkClock(explanation, token?.sequence ?? 0)
    if explanation.cause.class == .still, explanation.certainty == .proven {
      try requireNoUnseenEnd(explanation)
    }
    try require(
      !explanation.findings.untold.contains { $0.what == .startedAnew },
      "the system was not started anew",
      explanation)
  }

  /// The last record of the batch that a record is in.
  private func end(of sequence: UInt64) -> UInt64 {
    run.entries.first { $0.record.sequence >= sequence && $0.remainingInBatch == 0 }?.record
      .sequence
      ?? sequence
  }

  private func requireNoUnseenEnd(_ explanation: Explanation) throws {
    guard let place = explanation.sequence else { return }
    let login = tale.tokens.last { token in
      token.sequence <= place
        && run.entries.contains {
          $0.record.sequence == token.sequence && $0.record.event?.kind == .login
        }
    }
    let isUnseen = tale.endedUnseen.contains {
      $0.lowerBound >= login?.sequence ?? 0 && $0.lowerBound <= place
    }
    try require(!isUnseen, "the session had ended in what was cut off", explanation)
  }

  // MARK: What is proven or ruled out

  private func check(
    _ finding: Finding, _ explanation: Explanation, _ known: [WhyTale.Noted]
  ) throws {
    choices.label(finding.what.rawValue)
    let answered = known.filter { $0.failure.kind.isAnswered }
    switch finding.what {
    case .noServerReached:
      try require(answered.isEmpty, "a server had answered", explanation)
    case .nobodySignedOut:
      try require(answered.isEmpty, "a server had answered", explanation)
      try requireNoUnseenEnd(explanation)
    case .nobodyEnded, .noEnd, .noLogoutByApp:
      try requireNoUnseenEnd(explanation)
    case .noRefusalOfUser:
      try require(
        !known.contains { $0.failure.kind.isFinal }, "it was refused, and that is noted",
        explanation)
    case .noRefusalBefore:
      guard case .place(let lost)? = finding.values.last, let sent = tale.requests[lost]?.sent
      else {
        return try require(false, "no request is named", explanation)
      }
      try require(
        !known.contains { $0.failure.kind.isFinal && $0.given < sent }, "it was refused before",
        explanation)
    case .countedFailures:
      try require(
        finding.values.first == .counted(UInt64(answered.count), "failure"),
        "\(answered.count) answers were failures", explanation)
    case .endedNothing:
      try require(
        explanation.sequence.map { !tale.decided.contains($0) } == true, "it ended the session",
        explanation)
    case .lifeWasOver:
      try require(false, "the token could be refreshed", explanation)
    default: break
    }
  }

  private func checkCause(_ explanation: Explanation, _ known: [WhyTale.Noted]) throws {
    switch explanation.cause {
    case .revokedElsewhere:
      try require(
        !known.contains { $0.failure.serverCode == "TOKEN_REUSED" },
        "the server had said that it was used", explanation)
    case .serverFailing:
      try require(
        known.allSatisfy { !$0.failure.kind.isAnswered || $0.failure.kind == .server },
        "another answer is noted", explanation)
    case .refused:
      try require(false, "the server said why", explanation)
    default: break
    }
  }

  // MARK: Clocks

  private func checkClock(_ explanation: Explanation, _ start: UInt64) throws {
    let back = (explanation.findings.proven + explanation.findings.alsoSeen).contains { finding in
      (finding.what == .clockSetBack || finding.what == .clockWentBack)
        && finding.sequences.contains { $0 > start }
    }
    try require(
      !back || !(explanation.rulesOut(.tokenHadLife) || explanation.has(.unusedTooLong)),
      "a time is told that a clock was set back in", explanation)
    guard let agrees = explanation.findings.ruledOut.first(where: { $0.what == .clockAgrees })
    else {
      return
    }
    let offsets = tale.offsets.filter { agrees.searched?.contains($0.key) == true }.map(\.value)
    let spread = (offsets.max() ?? .max) - (offsets.min() ?? 0)
    try require(
      offsets.count > 1 && spread <= 60, "the clock was set between: \(offsets)", explanation)
    guard explanation.cause == .tokenExpired, let last = agrees.searched?.upperBound,
      let token = tale.tokens.last(where: { $0.sequence <= explanation.sequence ?? 0 })
    else { return }
    func time(_ sequence: UInt64) -> Timestamp? {
      run.entries.first { $0.record.sequence == sequence }?.record.time
    }
    let covered = time(last).flatMap { last in
      time(token.sequence).map { last.milliseconds(since: $0) }
    }
    try require(
      covered ?? 0 >= 3_600_000, "openings do not reach to the token's end", explanation)
  }

  // MARK: What is likely

  private func weigh(
    _ finding: Finding, _ explanation: Explanation, _ known: [WhyTale.Noted]
  ) throws {
    choices.label(finding.what.rawValue)
    let request = finding.sequences.compactMap { tale.requests[$0] }.first
    switch finding.what {
    case .goneBeforeDeadline:
      try require(request?.cameBack == false, "its process came back", explanation)
      try require(request?.endedBefore == false, "its process had begun anew", explanation)
    case .suspended:
      try require(request?.endedBefore == false, "its process had ended", explanation)
    case .offline:
      let last = run.entries.map(\.record).last { record in
        guard case .event(.refreshFailed(let failed)) = record.content else { return false }
        return !failed.failure.kind.isAnswered && record.sequence <= explanation.sequence ?? 0
      }
      guard case .event(.refreshFailed(let failed))? = last?.content else {
        return try require(false, "nothing failed", explanation)
      }
      try require(
        !known.contains { $0.failure.kind.isAnswered && $0.sequence > failed.request },
        "a server answered behind it", explanation)
    case .rotatedReplyLost:
      guard let request else { return try require(false, "no request is named", explanation) }
      try require(
        !known.contains { $0.failure.serverCode == "TOKEN_REUSED" && $0.given < request.sent },
        "it was refused as used before", explanation)
      let isKilled = explanation.cause == .killedInRefresh && explanation.certainty > .possible
      try require(!isKilled || !request.cameBack, "its process came back", explanation)
      let isSuspended =
        explanation.cause == .suspendedInRefresh && explanation.certainty > .possible
      try require(!isSuspended || !request.endedBefore, "its process had ended", explanation)
    default: break
    }
  }
}
