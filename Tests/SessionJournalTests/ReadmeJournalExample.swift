import SessionJournal
import Testing

@Suite("README: the journal alone")
struct ReadmeJournalExample {
  @Test("it runs as it stands there")
  func run() async throws {
    let scratch = try Scratch()
    let folder = scratch.folder
    // README begins
    let journal = try Journal.open(at: folder + "/notes.journal")
    let done = try journal.append([JournalDraft(kind: 1, payload: Array("one".utf8))])
    _ = try await journal.submit([JournalDraft(kind: 1, payload: Array("two".utf8))])
    _ = try journal.append([JournalDraft(kind: 1, payload: Array("three".utf8))], ifLastIs: 2)
    print("\(done.appended[0].sequence) of \(journal.lastSequence)")
    try journal.close()
    // README ends
    var reader = try JournalReader(path: folder + "/notes.journal")
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 3)
  }
}
