import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("Explanations of a history")
struct HistoryExplanationTests {
  private func history(_ cause: Cause) throws -> SessionHistory {
    try SessionHistory(
      path: RecordedJournal.folder.appending(path: "\(cause.id).journal").path)
  }

  private func cause(of json: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return try #require(object?["cause"] as? String)
  }

  /// The explanation without names, and without other ends.
  private func plain(_ explanation: Explanation) -> Explanation {
    var plain = explanation
    (plain.origin.user, plain.origin.journal) = (nil, nil)
    plain.others = Explanation.OtherEnds()
    plain.root = plain.root.map(self.plain)
    return plain
  }

  @Test("RPL-8 RPL-3 the app gives the answer of the tool, for every cause", arguments: Cause.all)
  func answers(_ cause: Cause) throws {
    let kept = try RecordedJournal(keptFor: cause)
    let history = try history(cause)
    if let word = kept.arguments.last, let sequence = UInt64(word.dropFirst()) {
      #expect(Explanation(of: history, at: sequence)?.cause.id == cause.id)
    } else {
      #expect(Explanation(of: history).cause.id == cause.id)
    }
    #expect(plain(Explanation(of: history)) == (try WhyRun(cause).answer()))
  }

  @Test(
    "RPL-8 a report's records have the same cause, with the same certainty", arguments: Cause.all)
  func reports(_ cause: Cause) throws {
    let history = try history(cause)
    let redaction = Redaction(pseudonyms: Pseudonyms(of: history.origin))
    let (told, redacted) = (
      Explanation(of: history), Explanation(of: history.redacted(by: redaction))
    )
    #expect(redacted.cause.id == told.cause.id && redacted.certainty == told.certainty)
  }

  @Test("RPL-8 each end of a history is explained once, in order", arguments: Cause.all)
  func ends(_ cause: Cause) throws {
    let history = try history(cause)
    let ends = Explanation.ends(of: history)
    #expect(ends.map(plain) == (try WhyRun(cause).explanations().ends))
    let sequences = ends.compactMap(\.sequence)
    #expect(sequences == sequences.sorted() && Set(sequences).count == sequences.count)
  }

  @Test("RPL-8 RPL-6 lost records lower the certainty of an end that relies on them")
  func damage() throws {
    let history = try history(.suspendedInRefresh)
    let whole = Explanation(of: history)
    let end = try #require(whole.sequence)
    for place in history.parts.indices.dropLast() {
      guard case .record(let lost) = history.parts[place], lost.record.sequence < end else {
        continue
      }
      var parts = history.parts
      parts[place] = .lost(
        SessionHistory.Damage(
          offset: lost.offset, bytes: 64, sequences: lost.record.sequence...lost.record.sequence))
      let damaged = SessionHistory(origin: history.origin, parts: parts, ending: .damaged)
      #expect(damaged.damage.count == 1)
      let explanation = Explanation(of: damaged)
      #expect(explanation.certainty <= whole.certainty, "@\(lost.record.sequence)")
      #expect(explanation.certainty != .proven, "@\(lost.record.sequence)")
    }
  }

  @Test("RPL-8 a record that a history does not have is not explained")
  func absent() throws {
    let history = try history(.userLogout)
    let last = try #require(history.events.last?.sequence)
    #expect(Explanation(of: history, at: last + 100) == nil)
    #expect(Explanation(of: history, at: 0) == nil)
    #expect(Explanation(of: history, at: last)?.cause.id == "user-logout")
    let empty = SessionHistory(
      origin: .init(journal: "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a", salt: 1, lastSequence: 0),
      parts: [], ending: .clean)
    #expect(Explanation(of: empty).cause.class == .still && Explanation.ends(of: empty).isEmpty)
    #expect(Explanation(of: empty, at: 1) == nil)
  }
}
