import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: unusable files and folders")
struct BadPlaceTests {
  /// Expects that opening fails with this error of the journal, and that the error shows its path.
  private func expect(_ bench: Bench, _ isExpected: (JournalError) -> Bool) async {
    let error = await failure { () async throws(SessionError) in
      try await Session.open(bench.configuration())
    }
    guard let cause = error.journalError, isExpected(cause) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(cause)".contains(bench.journal))
  }

  @Test("a folder, a device, an empty file or another file at the journal's path is refused")
  func obstacles() async throws {
    let folder = try Bench()
    try FileManager.default.createDirectory(
      atPath: folder.journal, withIntermediateDirectories: true)
    await expect(folder) { if case .isDirectory = $0 { true } else { false } }

    let device = try Bench()
    try FileManager.default.createSymbolicLink(
      atPath: device.journal, withDestinationPath: "/dev/null")
    await expect(device) { if case .notARegularFile = $0 { true } else { false } }

    let empty = try Bench()
    #expect(FileManager.default.createFile(atPath: empty.journal, contents: nil))
    await expect(empty) { if case .empty = $0 { true } else { false } }

    let text = try Bench()
    let content = Data(String(repeating: "not a journal ", count: 20).utf8)
    try content.write(to: URL(filePath: text.journal))
    await expect(text) { if case .notAJournal = $0 { true } else { false } }
    #expect(try Data(contentsOf: URL(filePath: text.journal)) == content)

    let missing = try Bench()
    try FileManager.default.removeItem(at: missing.folder)
    await expect(missing) { if case .folderMissing = $0 { true } else { false } }
  }

  @Test("RES-6 a damaged journal is refused with its sequence, and is not changed")
  func damaged() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.refresh()
    try await session.close()
    var bytes = try Data(contentsOf: URL(filePath: bench.journal))
    bytes[64 + 40] ^= 1
    try bytes.write(to: URL(filePath: bench.journal))
    await expect(bench) {
      if case .damaged(_, let damage) = $0 { damage.sequence == 1 } else { false }
    }
    #expect(try Data(contentsOf: URL(filePath: bench.journal)) == bytes)
    #expect(try bench.files() == ["context", "token", "user"])
  }

  @Test("JRN-3 a journal with a newer version's event is refused, and the event is not skipped")
  func newerRecord() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let journal = try Journal.open(at: bench.journal)
    let (kind, payload) = SessionCodec.encode(
      .unknown(SessionRecord.Unknown(kind: 9, payload: [1, 2, 3])),
      at: Timestamp(milliseconds: 0))
    _ = try journal.append([JournalDraft(kind: kind, payload: payload)])
    try journal.close()
    let error = await failure { () async throws(SessionError) in
      try await Session.open(bench.configuration())
    }
    guard case .unusableJournal? = error.failure, let row = error?.row else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(row.description.hasPrefix(bench.journal + " cannot be folded"))
    #expect(row.detail?.contains("9") == true)
  }
}
