import ChildProcesses
import SessionJournal
import Testing

@Suite("The example of the journal alone")
struct JournalExample {
  @Test("the example runs as it is on the page")
  func run() async throws {
    let scratch = try TemporaryFolder()
    let folder = scratch.path
    // PAGE begins
    struct Lines: JournalSummary {  // what compaction keeps of records that go
      var text = ""

      mutating func take(_ record: RecordHeader, payload: RawSpan) {
        let line = payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        text = record.isSnapshot ? line : text + line
      }

      func snapshot() -> [UInt8]? { Array(text.utf8) }
    }

    let journal = try Journal.open(at: folder + "/notes.journal")
    let done = try journal.append([JournalDraft(kind: 1, payload: Array("one".utf8))])
    _ = try await journal.submit([JournalDraft(kind: 1, payload: Array("two".utf8))])
    _ = try journal.append([JournalDraft(kind: 1, payload: Array("three".utf8))], ifLastIs: 2)
    print("\(done.appended[0].sequence) of \(journal.lastSequence)")
    for record in try journal.records(after: 1, limit: 100) {  // a page of what is there
      print(record.sequence, String(decoding: record.payload, as: UTF8.self))
    }
    _ = try journal.compact(keepingFrom: 3, summary: Lines())  // one and two become a snapshot
    try journal.close()

    // Takes no lock, changes nothing.
    var reader = try JournalReader(path: folder + "/notes.journal")
    var lines = Lines()
    try reader.visit { frame, payload in
      lines.take(frame.record, payload: payload)
      return true
    }
    print(lines.text, try reader.ending())  // onetwothree clean
    // PAGE ends
    #expect(lines.text == "onetwothree")
    #expect(try reader.ending() == .clean)
    #expect(reader.header.beginsWithSnapshot)
  }
}
