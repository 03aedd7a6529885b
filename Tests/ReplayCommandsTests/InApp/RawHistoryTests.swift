import ChildProcesses
import SessionCore
import SessionExplain
import SessionJournal
import Testing

/// A history of raw records, with public names only, as a program without SessionKit makes it.
@Suite("A history of raw records")
struct RawHistoryTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func history(
    _ name: String, upTo last: UInt64 = .max, cutting cut: UInt64? = nil
  ) throws -> SessionHistory {
    var reader = try JournalReader(path: folder.file(name))
    var history = SessionHistory(journal: reader.identifier.description)
    while let record = try reader.next(), record.sequence <= last {
      history.append(
        payload: record.sequence == cut ? [1] : record.payload, kind: record.kind,
        sequence: record.sequence, remainingInBatch: record.remainingInBatch)
    }
    if case .damaged(let damage) = try reader.ending() { history.endDamaged(at: damage.offset) }
    return history
  }

  private func why(_ name: String, _ options: String...) throws -> String {
    let run = ToolRun.inProcess(["why", "--json", folder.file(name)] + options)
    return try #require(try run.objects().first?["cause"] as? String)
  }

  @Test("RPL-8 RPL-3 a program without SessionKit gets the answer of `why`")
  func answers() throws {
    for name in ["a.journal", "compacted.journal", "torn.journal", "illegal.journal"] {
      let history = try history(name)
      #expect(Explanation(of: history).cause.id == (try why(name)), "\(name)")
      #expect(history.isCompacted == (name == "compacted.journal"))
    }
    let empty = SessionHistory(journal: "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a")
    #expect(empty.count == 0 && !Explanation(of: empty).text.isEmpty)
  }

  @Test("RPL-6 a record that cannot be decoded is damage, and nothing is proven across it")
  func leftOut() throws {
    let whole = try history("a.journal", upTo: 15)
    // The request whose response ended the session.
    let cut = try history("a.journal", upTo: 15, cutting: 13)
    #expect(whole.damage.isEmpty && cut.damage.map(\.sequences) == [13...13])
    #expect(cut.count == whole.count - 1)
    let (proven, doubted) = (Explanation(of: whole), Explanation(of: cut))
    #expect(proven.text != doubted.text && doubted.certainty <= proven.certainty)
  }

  @Test("RPL-6 damage at the end of a journal is a place of the history")
  func end() throws {
    let damaged = try history("damaged.journal")
    #expect(damaged.damage.count == 1 && damaged.damage.first?.offset ?? 0 > 64)
  }
}
