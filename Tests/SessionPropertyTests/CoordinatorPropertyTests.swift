@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import SessionTestSupport
import Testing

/// Each rule of `CoordinatorRule` on random runs.
///
/// Callers, responses, timers, clocks, failing commits, restarts and other processes, in any order.
@Suite("Properties of the coordinator")
struct CoordinatorPropertyTests {
  private func hold(
    _ rule: CoordinatorRule, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let cases = Sweep(rule.rawValue, takingOneOf: 5).cases(of: 200)
    let report = Property(rule.rawValue, cases: cases, regressions: RegressionFolder()).check {
      _ = try CoordinatorRun.random($0, rules: [rule])
    }
    expect(report, sourceLocation: sourceLocation)
  }

  @Test("C1 OUT-4 a signed-out session sends no refresh and discards late responses")
  func signedOutIsQuiet() { hold(.signedOutIsQuiet) }

  @Test("C2 REF-3 CTX-2 at most one request that may change a token is on the wire")
  func oneFlight() { hold(.oneFlight) }

  @Test("C3 REF-3 every caller receives exactly one reply")
  func everyCallerOnce() { hold(.everyCallerOnce) }

  @Test("C4 a commit is the last effect of its list")
  func commitIsLast() { hold(.commitIsLast) }

  @Test("C5 STA-2 every commit is legal for the fold and for the model")
  func commitsAreLegal() { hold(.commitsAreLegal) }

  @Test("C6 OUT-4 REF-3 a response counts exactly if its base generation is still current")
  func baseDecides() { hold(.baseDecides) }

  @Test("C7 REF-6 a failure without a response is never followed by an end")
  func networkEndsNothing() { hold(.networkEndsNothing) }

  @Test("C8 REF-8 clock jumps never extend or shorten a token's life")
  func clockJumps() { hold(.clockJumpsChangeNothing) }

  @Test("C9 duplicate replies are harmless")
  func duplicates() { hold(.duplicatesAreHarmless) }

  @Test("C10 POL-2 REF-6 each end has exactly one cause")
  func endsHaveOneCause() { hold(.endsHaveOneCause) }

  @Test("C11 cancelling one caller does not cancel the others")
  func cancelSparesOthers() { hold(.cancelSparesOthers) }

  @Test(
    "C12 REF-1 a refreshable session has a refresh that is scheduled, in flight or waiting for a lease"
  )
  func refreshIsAlwaysDue() { hold(.refreshIsAlwaysDue) }

  @Test("C13 REF-1 one input leads to a bounded amount of work, and requests do not loop")
  func workIsBounded() { hold(.workIsBounded) }

  @Test("C14 after faults stop, every waiter finishes in bounded virtual time")
  func waitersFinish() { hold(.waitersFinish) }

  @Test("C15 STA-7 each event is published once, in order, after it is durable")
  func publishedOnce() { hold(.publishedOnce) }

  @Test("C16 a caller receives a success only of its own session, after it is durable")
  func repliesAreTrue() { hold(.repliesAreTrue) }

  @Test("C17 STA-1 the live state is the fold of the journal, and the model agrees")
  func stateIsTheFold() { hold(.stateIsTheFold) }

  @Test("C18 REF-3 another process's request is waited for, not doubled")
  func leasesAreKept() { hold(.leasesAreKept) }

  @Test("C19 STA-2 LOG-10 a rejected command changes no state and appends nothing")
  func rejections() { hold(.rejectionsChangeNothing) }

  @Test("C22 REF-7 closing waits for the response that is under way")
  func closingWaits() { hold(.closingWaits) }

  @Test("C25 REF-14 only a failure with a response of the server delays an attempt")
  func networkPutsNothingOff() {
    expect(
      Property(
        "C25 want of a network puts nothing off", cases: 200, regressions: RegressionFolder()
      ).check {
        choices in
        var run = try CoordinatorRun.signedIn(choices.policy(), rules: CoordinatorRule.all)
        let kinds: [RequestFailure.Kind] = [.noConnection, .noReply, .server, .intercepted]
        let needs: [RefreshNeed] = [.unlessNewer(than: Generation(1)), .ifExpired]
        for _ in 0..<choices.draw(in: 1...40) {
          let move: CoordinatorMove? =
            switch choices.draw(below: 4) {
            case 0: run.move(.timer)
            case 1: .pass(Int64(choices.draw(in: 1...2_000)))
            case 2: .ask(.refresh(.unauthorized, choices.pick(needs) ?? .ifExpired))
            default:
              run.request.map {
                .fail($0, RequestFailure(kind: choices.pick(kinds) ?? .noConnection), jitter: 0)
              }
            }
          guard let move, run.coordinator.state.kind == .authenticated else { continue }
          try run.make(move)
          choices.step("\(move)", state: run.line)
        }
      })
  }

  @Test("C20 REF-6 no preset logs out because of a missing network, however long it lasts")
  func offline() {
    expect(
      Property(
        "C20 no preset logs out for want of a network", cases: 200, regressions: RegressionFolder()
      ).check {
        choices in
        var run = try CoordinatorRun.signedIn(choices.policy(), rules: CoordinatorRule.all)
        for _ in 0..<choices.draw(in: 0...40) {
          let kinds: [RequestFailure.Kind] = [
            .noConnection, .noReply, .secretsUnavailable, .intercepted,
          ]
          let failure = RequestFailure(kind: choices.pick(kinds) ?? .noReply)
          let move: CoordinatorMove? =
            switch choices.draw(below: 6) {
            case 0: .ask(.refresh(.manual, choices.chance(1, in: 2) ? .ifExpired : .always))
            case 1: .ask(.switchContext)
            case 2: .restart(isHolderGone: choices.chance(1, in: 2))
            default:
              run.request.map {
                .fail($0, failure, jitter: UInt16(choices.draw(below: 65_536)))
              } ?? run.move(.timer)
            }
          guard let move else { continue }
          try run.make(move)
          choices.step("\(move)", state: run.line)
          let state = run.coordinator.state
          try choices.require(state.kind == .authenticated, "the session is \(state.line)")
        }
      })
  }

  @Test(
    "C21 REF-1 REF-6 neither tokens that arrive expired nor a missing network cause a loop of requests"
  )
  func spinning() {
    expect(
      Property(
        "C21 dead tokens and dead networks do not make it spin",
        cases: Sweep("dead tokens", takingOneOf: 3).cases(of: 60),
        regressions: RegressionFolder()
      ).check {
        choices in
        let policy = choices.policy()
        var run = try CoordinatorRun.signedIn(policy, rules: CoordinatorRule.all)
        choices.step("signed in with policy \(policy.name)")
        let isOffline = choices.chance(1, in: 2)
        let kind: RequestFailure.Kind = choices.pick([.noConnection, .noReply]) ?? .noReply
        let lifetime = Int64(choices.draw(below: 2))
        let start = run.uptime
        try run.make(.ask(.refresh(.manual, .always)))
        var sent = 0
        for _ in 0..<200 {
          let move: CoordinatorMove? = run.request.map {
            sent += 1
            return isOffline
              ? .fail($0, RequestFailure(kind: kind), jitter: .max)
              : .answer($0, .token(lifetime: lifetime))
          }
          guard let next = move ?? run.move(.timer) else { break }
          try run.make(next)
          choices.step("\(next)", state: run.line)
        }
        let passed = run.uptime - start
        try choices.require(
          passed >= Int64(sent - 4), "\(sent) requests in \(passed) ms, policy \(policy.name)")
      })
  }

  @Test("C23 REF-8 a session that cannot be refreshed ends with its token, whatever the civil time")
  func endsOnTime() {
    expect(
      Property(
        "C23 a session that cannot be refreshed ends with its token", cases: 100,
        regressions: RegressionFolder()
      ).check { choices in
        let policy = choices.policy()
        var run = try CoordinatorRun.signedIn(
          policy, rules: CoordinatorRule.all, isRefreshable: false)
        choices.step("signed in with policy \(policy.name)", state: run.line)
        let start = run.uptime
        let lifetime = run.coordinator.state.token?.lifetimeMilliseconds ?? 0
        let jumps: [Int64] = [-(1 << 40), -lifetime, -1, 0, 1, lifetime, 1 << 40, .min, .max]
        for _ in 0..<choices.draw(in: 1...6) {
          try run.tell(.jump(choices.pick(jumps) ?? 0), choices)
          let pause = choices.pick([0, 1, lifetime / 3, lifetime - 1] as [Int64]) ?? 0
          try run.tell(.pass(min(pause, start + lifetime - 1 - run.uptime)), choices)
          // A timer that fires early, as after a sleep, ends nothing.
          try run.tell(.early(.expiry), choices)
          try choices.require(
            run.coordinator.state.kind == .authenticated,
            "over after \(run.uptime - start) of \(lifetime) ms: \(run.coordinator.state.line)")
        }
        try run.tell(.fire(.expiry), choices)
        try choices.require(
          run.coordinator.state.kind != .authenticated && run.uptime - start == lifetime,
          "after \(run.uptime - start) of \(lifetime) ms: \(run.coordinator.state.line)")
      })
  }

  @Test("C24 RES-1 after a restart a session continues only with the token that the journal names")
  func restored() {
    expect(
      Property(
        CoordinatorRule.restoredIsStored.rawValue, cases: 100, regressions: RegressionFolder()
      ).check { choices in
        var run = try CoordinatorRun.signedIn(choices.policy(), rules: CoordinatorRule.all)
        for _ in 0..<choices.draw(in: 0...3) {
          try run.tell(.ask(.refresh(.manual, .always)), choices)
          guard let request = run.request else { continue }
          try run.tell(.answer(request, .token(lifetime: 3_600_000)), choices)
        }
        let current = run.coordinator.state.token?.generation.number ?? 0
        let back = UInt64(choices.draw(in: 0...Int(current)))
        try run.tell(.rollBack(Generation(back)), choices)
        try run.tell(.restart(isHolderGone: choices.chance(1, in: 2)), choices)
        let isOld = back < current
        choices.label(isOld ? "an older token" : "the journal's token")
        try choices.require(
          (run.coordinator.state.kind == .authenticated) == !isOld,
          "token \(back) of \(current) is stored: \(run.coordinator.state.line)")
      })
  }
}

extension CoordinatorRun {
  /// Makes a move and records it.
  fileprivate mutating func tell(_ move: CoordinatorMove, _ choices: Choices) throws(Falsified) {
    defer { choices.step("\(move)", state: line) }
    try make(move)
  }
}
