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
    guard case .journal(let cause) = error.failure, isExpected(cause) else {
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
    guard case .unusableJournal(let path, _, let problem) = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == bench.journal)
    #expect(problem.contains("9"))
  }

  @Test("JRN-3 a newer version's note is skipped and kept")
  func newerNote() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let journal = try Journal.open(at: bench.journal)
    _ = try journal.append([
      JournalDraft(kind: 0xC0, payload: [0, 0, 0, 0, 0, 0, 0, 0, 1, 42])
    ])
    try journal.close()
    let session = try await bench.open()
    #expect(session.isAuthenticated)
    #expect(try bench.records().contains { $0.name == "unknown(192)" })
    try await session.close()
  }

  @Test("STO-2 a folder at the path of a secret is an error, and no session is lost")
  func secretsObstructed() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let token = bench.secrets + "/token"
    try FileManager.default.moveItem(atPath: token, toPath: bench.secrets + "/kept")
    try FileManager.default.createDirectory(atPath: token, withIntermediateDirectories: true)
    let session = try await bench.open()
    #expect(session.activity == .loading)
    #expect(session.isAuthenticated)
    try FileManager.default.removeItem(atPath: token)
    try FileManager.default.moveItem(atPath: bench.secrets + "/kept", toPath: token)
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    await eventually("the restore") { session.activity == .idle }
    #expect(session.currentToken?.generation == Generation(1))
    try await session.close()
  }

  @Test("a login on a full disk fails with a typed error, and its tokens are revoked")
  func secretsFull() async throws {
    let bench = try Bench()
    let full = InterceptedStore { (operation, item) throws(SecretStoreError) in
      if operation == .write { throw .noSpace(item: item, place: "memory") }
    }
    let session = try await bench.open(store: full)
    let error = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    #expect(error.failure == .secrets(.noSpace(item: .context, place: "memory")))
    #expect(session.state == .unauthenticated)
    #expect(await bench.server.answered(.logout))
    #expect(try bench.eventNames().isEmpty)
    try await session.close()
  }
}
