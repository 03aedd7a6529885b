@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// `why` names processes by the identity of an opening if the notes have one.
///
/// Without one it claims no more than process numbers allow.
@Suite("Why names openings, not process numbers")
struct WhyOpeningTests {
  private func identity(_ opening: Identifier, in namespace: Identifier = "n", start: UInt64 = 7)
    -> ProcessIdentity
  {
    ProcessIdentity(opening: opening, boot: "first", namespace: namespace, start: start)
  }

  private func opened(_ identity: ProcessIdentity, at seconds: Int64) -> SessionRecord.Content {
    .note(
      .opened(
        .init(
          process: 1, boot: "first", uptime: 10_000 + seconds * 1_000, identity: identity)))
  }

  private func sent(_ identity: ProcessIdentity, until seconds: Int64) -> SessionRecord.Content {
    .note(
      .requestSent(
        .init(
          kind: .refresh, generation: Generation(1), trigger: .manual, attempt: 1, process: 1,
          deadline: WhyHistory.time(seconds), identity: identity)))
  }

  /// Ada signed in through `first`; then both have the journal open.
  private func shared(_ first: ProcessIdentity, _ second: ProcessIdentity) -> WhyHistory {
    var history = WhyHistory.empty
    history.add(0, opened(first, at: 0))
    history.add(0, WhyHistory.login(1, at: 0))
    history.add(10, opened(second, at: 10))
    return history
  }

  /// A refresh by an opening that fails; then another that ends the session.
  private func refused(_ history: WhyHistory, by openings: [ProcessIdentity]) -> Explanation {
    var history = history
    for (place, opening) in openings.enumerated() {
      let time = Int64(60 + 100 * place)
      let request = history.add(time, sent(opening, until: time + 6))
      if place == openings.count - 1 {
        history.end(time + 1, .refusal("TOKEN_REUSED"), 1, request)
      } else {
        history.add(time + 1, WhyHistory.failed(.offline, request, retry: time + 10))
      }
    }
    return history.answer()
  }

  @Test("REF-9 RPL-2 requests of two openings with one process number are not one process's")
  func equalNumbers() {
    let (one, two) = (identity("a"), identity("b", in: "other"))
    let history = shared(one, two)
    #expect(refused(history, by: [one, one]).rulesOut(.oneProcess))
    #expect(!refused(history, by: [one, two]).rulesOut(.oneProcess))
  }

  @Test("REF-9 RPL-2 without identities two openings with one number may be two processes")
  func oldNumbers() {
    var history = WhyHistory.empty
    history.add(0, WhyHistory.opened(1, at: 0), WhyHistory.login(1, at: 0))
    var alone = history
    alone.refuse(60, "TOKEN_REUSED", by: 1)
    #expect(alone.answer().rulesOut(.oneProcess))
    history.add(10, WhyHistory.opened(1, at: 10))
    history.refuse(60, "TOKEN_REUSED", by: 1)
    #expect(!history.answer().rulesOut(.oneProcess))
  }

  @Test("REF-9 RPL-2 a request of another opening with the same number is not its sender's own")
  func takenInNamespace() {
    let (one, two) = (identity("a"), identity("b", in: "other"))
    var history = shared(one, two)
    let lost = history.add(60, sent(one, until: 1_000))
    let again = history.add(
      61, WhyHistory.failed(.lost, lost, retry: 61), sent(two, until: 1_001))
    history.end(62, .refusal("TOKEN_REUSED"), 1, again + 1)
    let answer = history.answer()
    #expect(answer.cause == .killedInRefresh)
    #expect(answer.has(.goneBeforeDeadline))
    #expect(!answer.has(.endUnnoted))
  }

  @Test("REF-9 RPL-2 two openings with one number have different names in the answer")
  func sentences() {
    let (one, two) = (
      identity("aaaaaaaa-1"), identity("bbbbbbbb-2", in: "other")
    )
    var history = shared(one, two)
    let lost = history.add(60, sent(one, until: 100))
    let again = history.add(
      120, WhyHistory.failed(.lost, lost, retry: 120), sent(two, until: 200))
    history.end(121, .refusal("TOKEN_REUSED"), 1, again + 1)
    let finding = history.answer().proven.first { $0.what == .overtakenAfterDeadline }
    #expect(
      finding?.values == [
        .opening(1, "aaaaaaaa-1"), .place(lost), .opening(1, "bbbbbbbb-2"), .place(again + 1),
      ])
  }

  @Test("REF-9 a number that another process has by now rules out one process")
  func reusedNumber() {
    let (one, two) = (identity("a"), identity("b", start: 8))
    var trail = ProcessTrail()
    for (place, opening) in [one, two].enumerated() {
      let content = opened(opening, at: Int64(place))
      guard case .note(.opened(let note)) = content else { return }
      let record = SessionRecord(
        sequence: UInt64(place + 1), time: WhyHistory.time(Int64(place)), content: content)
      trail.open(note, Fact(record, batch: record.sequence))
    }
    #expect(trail.processCount == 1)
  }
}
