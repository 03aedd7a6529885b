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
      #expect(session.storageProblem.failure == .journal(.diskFull(path: bench.journal)))
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

  @Test("RES-6 REF-7 a rotated token is recovered after a death on a full disk")
  func diesAfterRotation() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let bench = try Bench { $0.rotatesRefreshTokens = true }
      let (_, rest) = try await bench.rotatedOnFullDisk()
      _ = try limitFiles(to: rest)
      // As if the process had died here: another object opens the same files.
      let again = try await bench.open()
      #expect(again.currentToken?.generation == Generation(2))
      #expect(
        try bench.records().map(\.name).suffix(3) == [
          "opened", "tokenRecovered", "refreshSucceeded",
        ])
      try await again.refresh()
      try await again.close()
    }
  }

  @Test(
    "RES-6 REF-7 a close on a full disk does not revoke the newest token")
  func closesAfterRotation() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let bench = try Bench { $0.rotatesRefreshTokens = true }
      let (session, rest) = try await bench.rotatedOnFullDisk()
      try await session.close()
      _ = try limitFiles(to: rest)
      let again = try await bench.open()
      #expect(again.currentToken?.generation == Generation(2))
      #expect(try await again.refresh().generation == Generation(3))
      #expect(bench.server.count(of: .logout) == 0)
      try await again.close()
    }
  }

  @Test(
    "OUT-1 RES-6 a logout after a rotation that is not journaled revokes the newest token"
  )
  func logsOutAfterRotation() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let bench = try Bench { $0.rotatesRefreshTokens = true }
      let (session, rest) = try await bench.rotatedOnFullDisk()
      _ = try limitFiles(to: rest)
      for _ in 0..<2 { bench.server.failNext(.logout, with: .dropConnection(.beforeActing)) }
      #expect(try await session.logout() == .partial(.serverNotTold(status: nil)))
      await eventually("both were tried") { bench.server.count(of: .logout) == 2 }
      try await session.close()
      let again = try await bench.open()
      await eventually("it is told") { bench.server.count(of: .logout) == 3 }
      #expect(bench.server.calls.last { $0.endpoint == .logout }?.accessToken == 2)
      try await again.close()
    }
  }

  @Test(
    "RES-6 REF-6 a full disk before a refresh prevents the request, and logs out no user")
  func beforeRefresh() async throws {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let bench = try Bench { $0.rotatesRefreshTokens = true }
      let session = try await bench.signedIn()
      _ = try bench.grow()
      let rest = try limitFiles(to: try bench.end())
      let error = await failure { () async throws(SessionError) in try await session.refresh() }
      #expect(error.failure == .journal(.diskFull(path: bench.journal)))
      #expect(bench.server.count(of: .refresh) == 0)
      #expect(session.isAuthenticated && !session.isTokenExpired)
      #expect(session.currentToken?.generation == Generation(1))
      #expect(try await session.accessToken().generation == Generation(1))
      try await session.close()

      // On the full disk a new opening still returns its token.
      let again = try await bench.open()
      #expect(again.currentToken?.generation == Generation(1))
      _ = try limitFiles(to: rest)
      try await again.refresh()
      #expect(again.storageProblem == nil)
      #expect(again.currentToken?.generation == Generation(2))
      try await again.close()
    }
  }

  @Test(
    "REF-20 if the room for the response cannot be reserved, nothing is sent until it can",
    arguments: [
      SecretStoreError.noRoomForNext(item: .token, place: "/s/token", bytes: 5_000),
      .notWritable(item: .token, place: "/s/token"),
    ])
  func noReserve(problem: SecretStoreError) async throws {
    let bench = try Bench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    let refuses = Mutex(true)
    let store = InterceptedStore(FileSecretStore(folder: bench.secrets)) {
      (operation, _) throws(SecretStoreError) in
      if operation == .reserve, refuses.withLock({ $0 }) { throw problem }
    }
    let session = try await bench.signedIn(store: store)
    let errors = [
      await failure { () async throws(SessionError) in try await session.refresh() },
      await failure { () async throws(SessionError) in
        try await session.switchContext(to: bench.coordinator)
      },
    ]
    #expect(errors == [.secrets(problem), .secrets(problem)])
    #expect(session.storageProblem == .secrets(problem))
    #expect(try await session.accessToken().generation == Generation(1))
    // Nor when the token has ended.
    bench.clock.advance(by: .seconds(3_601))
    let late = await failure { () async throws(SessionError) in try await session.accessToken() }
    #expect(late == .secrets(problem))
    #expect(session.isAuthenticated)
    #expect(bench.server.calls.allSatisfy { $0.endpoint == .login })
    #expect(try bench.records().allSatisfy { $0.name != "requestSent" })

    refuses.withLock { $0 = false }
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(5))
    await eventually("the refresh") { session.currentToken?.generation == Generation(2) }
    #expect(session.storageProblem == nil)
    try await session.close()
    #expect(try bench.records().map(\.name).contains("storageRecovered"))
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
