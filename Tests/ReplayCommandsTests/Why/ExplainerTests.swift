import ChildProcesses
import SessionCore
import SessionExplain
import SessionJournal
import Testing

/// The public types of SessionExplain, used as an app uses them.
@Suite("SessionExplainer")
struct ExplainerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func explanation(_ name: String) throws -> Explanation {
    var explainer = SessionExplainer()
    var reader = try JournalReader(path: folder.file(name))
    while let record = try reader.next() {
      explainer.take(
        record.payload, kind: record.kind, sequence: record.sequence,
        remainingInBatch: record.remainingInBatch)
    }
    if case .damaged(let damage) = try reader.ending() {
      return explainer.explanation(damage: damage.offset)
    }
    return explainer.explanation()
  }

  private func explained(_ name: String) throws -> String { try explanation(name).text }

  /// The output of `why --full`, without the names of the journal and its user, which the records do
  /// not have, and without text about other ends and about places in the file.
  private func why(_ name: String) -> String {
    let output = ToolRun.inProcess(["why", "--full", folder.file(name)]).output
    return output.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("Others") && !$0.hasPrefix("--") }.joined(separator: "\n")
      .replacing(#/ · user user-\w+/#, with: "").replacing(#/ · journal \w+…/#, with: "")
  }

  @Test("RPL-3 an app reads why the last session ended, in the text of `why`")
  func ended() throws {
    #expect(try explained("a.journal").hasPrefix("Signed out by the app: "))
    for name in ["a.journal", "compacted.journal", "torn.journal", "illegal.journal"] {
      #expect(try explained(name) == why(name), "\(name)")
    }
  }

  @Test("RPL-3 an app reads the state of the session if no session has ended")
  func open() throws {
    try SampleJournal.write(
      to: folder.file("open"), batches: Array(SampleJournal.batches.prefix(6)))
    #expect(try explained("open") == why("open"))
    _ = try folder.write([], to: "none")
    #expect(!SessionExplainer().text().isEmpty)
  }

  @Test(
    "RPL-8 an explanation has labels from closed sets, a summary in three languages, and a line")
  func labels() throws {
    let explanation = try explanation("a.journal")
    #expect(explanation.cause.id == "user-logout" && Cause.all.contains(explanation.cause))
    #expect(explanation.certainty == .proven && Certainty.likely < .proven)
    #expect(explanation.app == "2.4.1+318" && explanation.user == nil)
    #expect(explanation.sequence == 22 && explanation.time?.description.hasPrefix("2026") == true)
    #expect(explanation.text.hasPrefix(explanation.summary().prefix(40)))
    #expect(explanation.summary(in: .spanish).hasPrefix("Sesión cerrada por la app: "))
    #expect(explanation.summary(in: .portuguese).hasPrefix("Sessão encerrada pelo app: "))
    #expect(explanation.oneLine.hasSuffix("[user-logout, proven] app 2.4.1+318"))
    #expect(Cause.all.allSatisfy { $0.id.utf8.count <= 32 && $0.id == "\($0)" })
  }

  @Test("RPL-6 a record that cannot be read is left out, and nothing is proven across it")
  func leftOut() throws {
    var explainer = SessionExplainer()
    var reader = try JournalReader(path: folder.file("a.journal"))
    var isCut = false
    while let record = try reader.next() {
      // The request whose response ended the session.
      isCut = record.sequence == 13
      explainer.take(
        isCut ? [1] : record.payload, kind: record.kind, sequence: record.sequence,
        remainingInBatch: record.remainingInBatch)
      if record.sequence == 15 { break }
    }
    let whole = ToolRun.inProcess(["why", "--full", "--at", "@15", folder.file("a.journal")]).output
    #expect(whole.contains("Proven"))
    #expect(explainer.text() != whole)
    #expect(!explainer.text().contains("(seq 15): refused (proven)"))
  }
}
