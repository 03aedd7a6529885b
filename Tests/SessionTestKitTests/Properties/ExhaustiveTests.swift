import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import SessionTestKit

@Suite("TST-1: exhaustive enumeration")
struct ExhaustiveTests {
  private let still = PropertySettings()

  @Test("TST-1: every case occurs once, and the report counts them")
  func every() {
    var seen: [[UInt64]] = []
    let report = Property("all", settings: still).exhaustive { choices in
      _ = choices.span { (0..<3).map { _ in choices.draw(below: 4) } }
      seen.append(choices.recorded)
    }
    #expect(report.text == "Property \"all\" held in all 64 cases.")
    #expect(report.coverage == .everyCase)
    #expect(Set(seen).count == 64)
    #expect(seen.count == 64)
  }

  @Test("TST-1: an enumeration covers cases of different lengths and cases that end early")
  func lengths() {
    var seen: Set<[Int]> = []
    let list = Generator.integer(in: 0...2).list(0...4)
    let report = Property("lists", settings: still).exhaustive { choices in
      let values = list(choices)
      try choices.assume(values != [2, 2])
      #expect(seen.insert(values).inserted)
    }
    #expect(report.cases == 1 + 3 + 9 + 27 + 81 - 1)
    #expect(report.discarded == 1)
    #expect(report.hasPassed)
  }

  @Test("TST-1: the report says that the bounds left out cases")
  func bounds() {
    let wide: (Choices) -> Void = { choices in for _ in 0..<3 { _ = choices.draw(below: 1_000) } }
    let property = Property("wide", settings: still)
    let within = property.exhaustive(depth: 2, width: 5, wide)
    #expect(within.cases == 25)
    #expect(within.coverage == .everyCaseWithin(depth: 2, width: 5))
    #expect(within.text.contains("held in all 25 cases within 2 draws and values below 5"))
    let cut = property.exhaustive(limit: 70, wide)
    #expect(cut.cases == 70)
    #expect(cut.text.contains("the first 70 cases, there are more"))
    #expect(property.exhaustive(limit: 25, depth: 2, width: 5, wide).coverage == within.coverage)
  }

  @Test("TST-1: a failing case of an enumeration is shrunk and can be replayed")
  func fails() throws {
    let body: (Choices) throws -> Void = { choices in
      let values = Generator.integer(in: 0...5).list(0...5)(choices)
      try choices.require(!values.contains(4), "four")
    }
    let report = Property("no four", settings: still).exhaustive(body)
    let failure = try #require(report.failure)
    #expect(failure.choices == [1, 4])
    let settings = PropertySettings(environment: ["SESSION_REPLAY": failure.replay])
    #expect(Property("no four", settings: settings).check(body).failure?.choices == [1, 4])
  }

  /// Six events, each legal in some state.
  private static let events: [SessionEvent] = {
    let token = TokenMetadata(
      generation: Generation(1), issuedAt: Timestamp(milliseconds: 0),
      expiresAt: Timestamp(milliseconds: 900_000), id: nil, isRefreshable: true)
    let next = TokenMetadata(
      generation: Generation(2), issuedAt: Timestamp(milliseconds: 0),
      expiresAt: Timestamp(milliseconds: 900_000), id: nil, isRefreshable: true)
    let role = ActiveContext.Named(id: Identifier("r"), name: "teacher")
    let context = ActiveContext(role: role, school: nil, unit: nil, permissions: [])
    return [
      .login(.init(user: Identifier("u"), method: .password, token: token, context: nil)),
      .refreshSucceeded(
        .init(token: next, trigger: .schedule, attempt: 1, isRotated: true, request: 0)),
      .refreshFailed(
        .init(
          generation: Generation(1), trigger: .schedule, attempt: 1,
          failure: RequestFailure(kind: .noReply, status: 0, serverCode: nil, retryAfter: nil),
          retryAt: nil, request: 0)),
      .contextSwitched(.init(context: context, token: nil, trigger: .user, request: 0)),
      .sessionExpired(.init(reason: .refreshRejected)), .logout(.init(reason: .user)),
    ]
  }()

  /// Folds sequences of `length` events: after each, a logout leaves nothing, and a rejection
  /// changes nothing.
  private static func fold(length: Int) -> (PropertyReport, legal: Int) {
    var legal = 0
    let time = Timestamp(milliseconds: 5)
    let report = Property("fold", settings: PropertySettings()).exhaustive { choices in
      var state = SessionState.unauthenticated
      for _ in 0..<length {
        let event = events[Int(choices.draw(below: 6))]
        do throws(SessionRejection) {
          try state.evolve(event, at: time)
          legal += 1
        } catch { guard error.state == state.kind else { throw error } }
      }
    }
    return (report, legal)
  }

  @Test("TST-1: all sequences of five events are folded")
  func folds() {
    let (report, legal) = Self.fold(length: 5)
    #expect(report.text == "Property \"fold\" held in all 7776 cases.")
    #expect(legal > 7_776)
  }

  /// A figure for the specification: SESSION_BENCH=1 swift test -c release --filter sequences.
  @Test(
    "6⁸ sequences of events",
    .enabled(if: ProcessInfo.processInfo.environment["SESSION_BENCH"] != nil))
  func sequences() {
    let clock = ContinuousClock()
    var report: PropertyReport?
    let idle = clock.measure {
      _ = Property("draws", settings: still).exhaustive { choices in
        for _ in 0..<8 { _ = choices.draw(below: 6) }
      }
    }
    print("draws alone: \(1_679_616 / (idle / .seconds(1))) a second")
    let duration = clock.measure { report = Self.fold(length: 8).0 }
    #expect(report?.cases == 1_679_616)
    print("\(report?.text ?? "") in \(duration): \(1_679_616 / (duration / .seconds(1))) a second")
  }
}

@Suite("TST-1: sweeps")
struct SweepTests {
  private let still = PropertySettings()

  private func taken(_ name: String, _ share: Int, of count: Int = 600) -> [Int] {
    Sweep(name, takingOneOf: share, isWhole: false).places(of: 0..<count)
  }

  @Test("TST-1 a daily run takes one of each group of adjacent places, the same each time")
  func day() {
    for share in 2...7 {
      let places = taken("a sweep", share, of: share * 50)
      #expect(places.map { $0 / share } == Array(0..<50))
      #expect(places == taken("a sweep", share, of: share * 50))
      #expect(places != taken("another sweep", share, of: share * 50))
      // It contains places of every remainder, so that no regular pattern is missed.
      #expect(Set(places.map { $0 % share }) == Set(0..<share))
    }
  }

  @Test("TST-1 a whole run takes all places, and a daily run at least one")
  func whole() {
    #expect(Sweep("all", takingOneOf: 9, isWhole: true).places(of: 0..<30) == Array(0..<30))
    #expect(Sweep("all", takingOneOf: 9, isWhole: true).cases(of: 200) == 200)
    #expect(Sweep("some", takingOneOf: 9, isWhole: false).cases(of: 200) == 23)
    #expect(Sweep("one", takingOneOf: 9, isWhole: false).cases(of: 1) == 1)
    #expect(Sweep("each", takingOneOf: 0, isWhole: false).places(of: 0..<3) == [0, 1, 2])
    for name in ["a", "b", "c", "d"] {
      #expect(taken(name, 9, of: 1) == [0])
      #expect(taken(name, 9, of: 0).isEmpty)
    }
  }

  /// Three draws of four values; a sweep takes its share.
  private func enumerate(_ isWhole: Bool, failing wrong: [UInt64] = []) -> (
    report: PropertyReport, seen: [[UInt64]]
  ) {
    var seen: [[UInt64]] = []
    let report = Property("p", settings: still).exhaustive { choices in
      let draws = (0..<3).map { _ in choices.draw(below: 4) }
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: isWhole))
      seen.append(draws)
      try choices.require(draws != wrong, "wrong")
    }
    return (report, seen)
  }

  @Test("TST-1 a sweep of an enumeration takes cases from all parts of it, and the report says so")
  func enumerated() {
    let (some, seen) = enumerate(false)
    #expect(some.cases == 16 && some.discarded == 0 && some.hasPassed)
    #expect(some.coverage == .someCases)
    #expect(some.text.contains("16 cases from everywhere in the enumeration, there are more"))
    #expect(Set(seen.map { $0[0] * 4 + $0[1] }) == Set(0..<16))
    #expect(Set(seen.map { $0[2] }).count == 4)
    let (all, _) = enumerate(true)
    #expect(all.cases == 64 && all.coverage == .everyCase)
  }

  @Test("TST-1 every case of a selected place runs, whatever is drawn after the selection")
  func behind() {
    var seen: [UInt64: Set<UInt64>] = [:]
    let report = Property("p", settings: still).exhaustive { choices in
      let place = choices.draw(below: 40)
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: false))
      seen[place, default: []].insert(choices.draw(below: 3) * 2 + choices.draw(below: 2))
    }
    #expect(report.cases == 60)
    #expect(Set(seen.keys.map { $0 / 4 }) == Set(0..<10) && seen.count == 10)
    #expect(seen.values.allSatisfy { $0.count == 6 })
  }

  @Test("TST-1 a failure of a whole run can be replayed in a daily run that skips its place")
  func replayed() throws {
    let (_, seen) = enumerate(false)
    let left = try #require(
      (0..<4 as Range<UInt64>).map { [3, 3, $0] }.first { !seen.contains($0) })
    #expect(enumerate(false, failing: left).report.hasPassed)
    let failure = try #require(enumerate(true, failing: left).report.failure)
    #expect(failure.choices == left.trimmed)
    let settings = PropertySettings(environment: ["SESSION_REPLAY": failure.replay])
    let again = Property("p", settings: settings).exhaustive { choices in
      let draws = (0..<3).map { _ in choices.draw(below: 4) }
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: false))
      try choices.require(draws != left, "wrong")
    }
    #expect(again.failure?.choices == left.trimmed)
  }

  @Test("TST-1 a sweep skips no random cases")
  func random() {
    let report = Property("p", cases: 50, settings: still).check { choices in
      _ = choices.draw(below: 4)
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: false))
    }
    #expect(report.cases == 50)
  }

  @Test("TST-1 SESSION_SWEEP is whole, empty or not set, so a misspelled word is noticed")
  func environment() {
    #expect(Sweep.isWhole(["SESSION_SWEEP": "whole"]))
    #expect(!Sweep.isWhole([:]))
    #expect(["", "whole"].contains(ProcessInfo.processInfo.environment["SESSION_SWEEP"] ?? ""))
  }
}
