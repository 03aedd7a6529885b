import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

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
    let wide: (Choices) -> Void = { choices in
      for _ in 0..<3 { _ = choices.draw(below: 1_000) }
    }
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
      .sessionExpired(.init(reason: .refreshRejected)),
      .logout(.init(reason: .user)),
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
        } catch {
          guard error.state == state.kind else { throw error }
        }
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
