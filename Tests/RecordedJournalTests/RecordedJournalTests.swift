import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Each cause of `Specs/Why.md` has a journal that a real run wrote, with the answer to it.
///
/// `RECORD_JOURNALS=1 swift test --filter RecordedJournal` writes the journals of the stories anew, and
/// `UPDATE_GOLDEN=1` only the answers; check the difference with git.
@Suite("Specs/Journals")
struct RecordedJournalTests {
  @Test("RPL-3 JRN-3 a story that runs again gets its stored answer", arguments: JournalStory.all)
  func story(_ story: JournalStory) async throws {
    let stage = try StoryStage()
    try await story.tell(stage)
    let bytes = try Data(contentsOf: URL(filePath: stage.journal))
    for secret in stage.server.secrets where secret.utf8.count >= 6 {
      #expect(bytes.range(of: Data(secret.utf8)) == nil, "a secret is in the journal")
    }
    var question: [String] = []
    if let name = story.asks {
      let record = try #require(try stage.records().last { $0.record.name == name }?.record)
      question = ["--at", "@\(record.sequence)"]
    }
    if RecordedJournal.isRecording {
      try RecordedJournal(cause: story.cause, arguments: question).write(bytes)
    }
    let kept = try RecordedJournal(keptFor: story.cause)
    let answer = RecordedJournal.run([stage.journal] + question + ["--json"])
    #expect(try AnswerShape(answer.output) == AnswerShape(try kept.kept().json))
  }

  @Test(
    "RPL-3 every cause has its recorded journal, and the journal its exact answer",
    arguments: Cause.all)
  func kept(_ cause: Cause) throws {
    try check(try RecordedJournal(keptFor: cause), cause)
  }

  @Test(
    "RPL-7 RPL-3 ends and why give one answer about the last end of a journal",
    arguments: Cause.all.filter { $0.class == .end })
  func rows(_ cause: Cause) throws {
    let run = try WhyRun(cause)
    var (ends, rows) = (SessionRows(), [SessionRow]())
    for entry in run.entries {
      try ends.take(entry.record, endsBatch: entry.remainingInBatch == 0) { rows.append($0) }
    }
    ends.finish(damagedAt: nil) { rows.append($0) }
    let row = try #require(rows.last { $0.sequence != nil })
    let answer = run.answer()
    #expect(answer.cause == row.cause && answer.certainty == row.certainty)
    #expect(answer.sequence == row.sequence)
  }

  @Test("RPL-3 REF-9 a further journal of a cause has its exact answer")
  func variants() throws {
    for variant in RecordedJournal.variants {
      try check(try RecordedJournal(named: variant.name), variant.cause)
    }
  }

  private func check(_ kept: RecordedJournal, _ cause: Cause) throws {
    let (text, json) = kept.answers()
    if RecordedJournal.isUpdating { try kept.write(text, json) }
    #expect(try kept.kept().text == text)
    #expect(try kept.kept().json == json)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(object["cause"] as? String == cause.id)
  }

  @Test("every file of the folder belongs to a cause")
  func files() throws {
    let found = try FileManager.default.contentsOfDirectory(atPath: RecordedJournal.folder.path)
    let names = Cause.all.map(\.id) + RecordedJournal.variants.map(\.name)
    let known = names.flatMap { name in ["journal", "txt"].map { "\(name).\($0)" } }
    let others = ["README.md", "differences.txt", "older-policy.txt"]
    #expect(Set(found).subtracting(others) == Set(known))
  }

  @Test("the folder's page has a row for each cause")
  func page() throws {
    let page = try String(
      contentsOf: RecordedJournal.folder.appending(path: "README.md"), encoding: .utf8)
    let journals = try #require(page.split(separator: "\n## ").first)
    let rows = journals.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
    let ids = rows.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    let names = Cause.all.map(\.id) + RecordedJournal.variants.map(\.name)
    #expect(ids.sorted() == names.sorted())
  }
}
