import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// A child process limits the size of its files, which simulates a full disk.
@Suite("A session on a full disk")
struct SessionFullDiskTests {
  @Test(
    "RES-6 REF-7 if the disk is full after a rotation, the newest token is journaled later")
  func afterRotation() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let bench = try Bench { $0.rotatesRefreshTokens = true }
      let (session, rest) = try await bench.rotatedOnFullDisk()
      #expect(session.storageProblem.isExactly(.journal(.diskFull(path: bench.journal))))
      #expect(session.state.token?.generation == Generation(1))
      #expect(session.currentToken?.generation == Generation(2))
      #expect(try await session.accessToken().generation == Generation(2))
      bench.clock.advance(by: .seconds(3_000))
      #expect(!session.isTokenExpired)

      _ = try limitFiles(to: rest)
      bench.clock.advance(by: .seconds(1))
      await eventually("the event") { session.state.token?.generation == Generation(2) }
      #expect(session.storageProblem == nil)
      #expect(session.currentToken?.generation == Generation(2))
      try await session.refresh()
      try await session.close()
      #expect(try bench.eventNames().filter { $0 == "refreshSucceeded" }.count == 2)
    }
  }

  @Test(
    "REF-20 CTX-2 a disk that becomes full during a request has room for its response",
    .enabled(if: MountedDisk.isAllowed, "mounting takes root"), arguments: [false, true])
  func fullDuringRequest(isSwitch: Bool) async throws {
    let bench = try Bench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    let disk = try MountedDisk()
    let store = FileSecretStore(folder: disk.folder + "/secrets")
    let session = try await bench.signedIn(store: store)
    let before = try #require(try store.read(.token)?.count)
    let (endpoint, context) = (
      isSwitch ? LoopbackEndpoint.switchContext : .refresh, bench.coordinator
    )
    let gate = bench.server.hold(endpoint)
    let request = Task {
      if isSwitch {
        try await session.switchContext(to: context)
      } else {
        try await session.refresh()
      }
    }
    #expect(await bench.server.received(endpoint))
    let draft = try FileManager.default.attributesOfItem(atPath: store.folder + "/token.new")
    #expect(draft[.size] as? Int == before + 4_096)
    try disk.fill()
    gate.open()
    _ = try await request.value
    #expect(session.currentToken?.generation == Generation(2))
    #expect(try store.read(.token) != nil)
    try await session.close()
    // Its context is that of the token, even if the item of the context had no room.
    let again = try await bench.open(store: store)
    #expect(again.currentToken?.generation == Generation(2))
    #expect(!isSwitch || again.state.activeContext?.role.id == bench.coordinator.role)
    try disk.empty()
    #expect(try await again.refresh().generation == Generation(3))
    try await again.close()
  }

  @Test(
    "RES-6 after the disk becomes full, the journal's reserve is enough for at least ten refreshes")
  func reserve() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let bench = try Bench { $0.rotatesRefreshTokens = true }
      let store = MemorySecretStore()
      let session = try await bench.signedIn(store: store)
      let size = try FileManager.default.attributesOfItem(atPath: bench.journal)[.size]
      _ = try limitFiles(to: try #require(size as? UInt64))
      var done = 0
      while done < 1_000 {
        do { try await session.refresh() } catch { break }
        done += 1
      }
      #expect(done >= 10, "\(done)")
      #expect(session.currentToken?.generation == Generation(UInt64(done) + 1))
      try await session.close()
    }
  }
}

extension Bench {
  /// The byte at which the journal's last record ends.
  func end() throws -> UInt64 {
    var reader = try JournalReader(path: journal)
    var end: UInt64 = 64
    while let raw = try reader.next() {
      end = raw.offset + 32 + UInt64(raw.payload.count + 7) / 8 * 8
    }
    return end
  }

  /// A session whose disk became full during its refresh, and the limit before that.
  ///
  /// The token is stored, and its event is not.
  func rotatedOnFullDisk() async throws -> (Session, limit: UInt64) {
    let session = try await signedIn()
    let end = try grow()
    let gate = server.hold(.refresh)
    let refresh = Task { try await session.refresh() }
    #expect(await server.received(.refresh))
    // The intent is in the journal, which cannot grow any further. The items are smaller.
    let limit = try limitFiles(to: try self.end())
    #expect(try self.end() > end)
    gate.open()
    await #expect(throws: SessionError.notStoredYet(because: .journal(.diskFull(path: journal)))) {
      try await refresh.value
    }
    return (session, limit)
  }

  /// Makes the journal longer than any item, and returns its end.
  func grow() throws -> UInt64 {
    let journal = try Journal.open(at: journal)
    let (kind, payload) = SessionCodec.encode(.note(.closed), at: clock.now().time)
    _ = try journal.append(
      Array(repeating: JournalDraft(kind: kind, payload: payload), count: 1_000))
    try journal.close()
    return try end()
  }
}

/// Limits the size of this process's files, and returns the old limit.
private func limitFiles(to size: UInt64) throws -> UInt64 {
  var limit = rlimit()
  #if canImport(Glibc)
  let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
  let resource = RLIMIT_FSIZE
  #endif
  try #require(getrlimit(resource, &limit) == 0)
  let before = limit.rlim_cur
  limit.rlim_cur = rlim_t(size)
  try #require(setrlimit(resource, &limit) == 0)
  return UInt64(before)
}
