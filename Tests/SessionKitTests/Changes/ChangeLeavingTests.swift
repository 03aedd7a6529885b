import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@_spi(Internals) @testable import SessionChanges
@testable import SessionKit

/// The effects of a logout on a change log, without a session.
@Suite("A change log after a logout")
struct ChangeLeavingTests {
  private func signIn(_ token: UInt64, of journal: Identifier = ChangeBench.journal) -> SignIn {
    SignIn(journal: journal, generation: Generation(token))
  }

  private func caught(_ body: () async throws -> Void) async throws -> ChangeLogError? {
    do {
      try await body()
      return nil
    } catch let error as ChangeLogError {
      return error
    }
  }

  /// The bytes of all files in the folder.
  private func bytes(in folder: URL) throws -> Data {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try names.reduce(into: Data()) {
      $0 += try Data(contentsOf: folder.appending(path: $1))
    }
  }

  @Test(
    "SYN-5 STO-3 after a logout no file in the folder holds the user's text, including torn tails"
  )
  func residue() async throws {
    let bench = try ChangeBench()
    let log = try await bench.open()
    try await log.add(
      ChangeBench.change(.create, 1, key: "k1", text: "DEAR-DIARY"), through: bench.gate)
    // A process died while it wrote, and its torn tail was cut off and kept.
    try Data("DEAR-DIARY".utf8).write(to: URL(fileURLWithPath: bench.path + ".torn-3-1"))
    var names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
    #expect(names.contains { $0.contains(".torn-") }, "\(names)")
    try await log.end(signIn(1), of: "u-1", discards: true)
    names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
    #expect(!names.contains { $0.contains(".torn-") }, "\(names)")
    let isThere = try bytes(in: bench.folder).range(of: Data("DEAR-DIARY".utf8)) != nil
    #expect(!isThere)
    #expect(log.queue.unsentCount == 0 && log.problem == nil)
  }

  @Test("SYN-2 a log that was drained holds no text of sent changes")
  func drained() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open()
    try await log.add(
      ChangeBench.change(.create, 1, key: "k1", text: "DEAR-DIARY"), through: bench.gate)
    _ = try await log.drain(through: bench.gate) { server.take($0) }
    let isThere = try bytes(in: bench.folder).range(of: Data("DEAR-DIARY".utf8)) != nil
    #expect(!isThere && log.problem == nil)
  }

  @Test(
    "OUT-3 SYN-2 a session that missed a logout adds and sends nothing until the next login"
  )
  func stale() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let (log, others) = (try await bench.open(), try await bench.open())
    let change = ChangeBench.change(.create, 1, key: "k1")
    try await log.add(change, through: bench.gate)
    // This is a logout by the policy, so pending changes stay.
    try await log.end(signIn(1), of: "u-1", discards: false)
    let second = ChangeBench.change(.create, 2, key: "k2")
    #expect(
      try await caught { try await others.add(second, through: bench.gate) } == .signInEnded)
    #expect(
      try await others.drain(through: bench.gate) { server.take($0) }.ending == .gateClosed)
    #expect(server.arrivals.isEmpty)
    bench.signIn("u-1", token: 2)
    try await others.add(second, through: bench.gate)
    // A late report of the first logout by another process changes nothing.
    try await log.end(signIn(1), of: "u-1", discards: true)
    #expect(log.queue.pending.map(\.change.key) == ["k2"])
    #expect(try await others.drain(through: bench.gate) { server.take($0) }.acknowledged == 1)
    let anew = try await bench.open()
    bench.signIn("u-1", token: 1)
    #expect(
      try await caught { try await anew.add(change, through: bench.gate) } == .signInEnded,
      "also from the snapshot")
  }

  @Test(
    "OUT-3 a pending logout refuses new changes until it is released or its process is dead"
  )
  func held() async throws {
    let bench = try ChangeBench()
    let (log, others) = (try await bench.open(), try await bench.open())
    let change = ChangeBench.change(.create, 1, key: "k1")
    #expect(try await log.holdForLogout(ChangeBench.journal, of: "u-1") == 0)
    let until = bench.clock.now().time.advanced(by: ChangeLog.leavingLease)
    #expect(
      try await caught { try await others.add(change, through: bench.gate) }
        == .loggingOut(until: until))
    await log.releaseHold(ChangeBench.journal)
    try await others.add(change, through: bench.gate)
    #expect(
      try await log.holdForLogout(ChangeBench.journal, of: "u-1") == 1,
      "what waits is counted, and nothing is held")
    try await others.add(ChangeBench.change(.create, 2, key: "k2"), through: bench.gate)
    try await others.discardAll()
    let dead = try await bench.open {
      $0.presence = ChangeBench.presence(ofProcess: UInt32(Int32.max))
    }
    #expect(try await dead.holdForLogout(ChangeBench.journal, of: "u-1") == 0)
    try await others.add(change, through: bench.gate)
  }

  @Test("OUT-3 a hold belongs to its process, and another process's release does not end it")
  func ownHold() async throws {
    let bench = try ChangeBench()
    let (log, others) = (try await bench.open(), try await bench.open())
    let change = ChangeBench.change(.create, 1, key: "k1")
    #expect(try await log.holdForLogout(ChangeBench.journal, of: "u-1") == 0)
    #expect(try await others.holdForLogout(ChangeBench.journal, of: "u-1") == 0)
    await others.releaseHold(ChangeBench.journal)
    let until = bench.clock.now().time.advanced(by: ChangeLog.leavingLease)
    #expect(
      try await caught { try await others.add(change, through: bench.gate) }
        == .loggingOut(until: until))
    await log.releaseHold(ChangeBench.journal)
    try await others.add(change, through: bench.gate)
  }

  @Test(
    "JRN-4 SYN-2 the file stays below twice its useful bytes plus 256 KiB"
  )
  func growth() async throws {
    let bench = try ChangeBench()
    let server = ChangeServer()
    let log = try await bench.open()
    @Sendable func size() throws -> Int {
      try Data(contentsOf: URL(fileURLWithPath: bench.path)).count
    }
    let text = String(repeating: "x", count: 100_000)
    for number in 1...20 {
      try await log.add(
        ChangeBench.change(.update, 1, key: Identifier("k\(number)"), text: text),
        through: bench.gate)
      #expect(try size() < 2 * 101_000 + (256 << 10) + 102_000 + 131_072)
    }
    // A drain during which changes are added.
    let drained = try await log.drain(through: bench.gate) { item in
      if server.arrivals.count < 20 {
        do {
          let key = Identifier("n\(server.arrivals.count)")
          try await log.add(
            ChangeBench.change(.update, 1, key: key, text: text), through: bench.gate)
          let bytes = try size()
          #expect(bytes < 4 * 101_000 + (256 << 10) + 204_000 + 131_072)
        } catch {
          Issue.record(error)
        }
      }
      return server.take(item)
    }
    #expect(drained.acknowledged == 21)
    #expect(try size() <= 131_072 && log.problem == nil)
  }

  @Test(
    "SYN-1 a closed or loading session refuses changes as not known, and not as signed out")
  func unknown() async throws {
    let bench = try ChangeBench()
    let log = try await bench.open()
    let change = ChangeBench.change(.create, 1, key: "k1")
    bench.hub.publish(SessionStatus(state: .unauthenticated, activity: .loading))
    #expect(try await caught { try await log.add(change, through: bench.gate) } == .notKnown)
    bench.signIn()
    bench.hub.finish()
    #expect(try await caught { try await log.add(change, through: bench.gate) } == .notKnown)
  }
}

/// The same, with a session.
@Suite("A logout with a change log")
struct SessionLeavingTests {
  private struct Odd: Error {}

  @Test("JRN-3 SYN-2 a session refuses to open a change log, and does not quarantine it")
  func swapped() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(.keeping)
    let path = bench.folder.path + "/changes.journal"
    var log = try await ChangeLog.open(at: path)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: session.gate)
    try await session.close()
    try await log.close()
    for mode in [SessionPolicy.UnusableJournal.refuse, .setAside] {
      var configuration = bench.configuration(.keeping)
      (configuration.journal, configuration.policy.recovery.unusableJournal) = (path, mode)
      configuration.secrets = FileSecretStore(folder: bench.folder.path + "/others")
      let other = configuration
      let error = await failure { () async throws(SessionError) in
        _ = try await Session.open(other)
      }
      #expect(error.failure == .unusableJournal && error?.description.contains("seq 1:") == true)
    }
    log = try await ChangeLog.open(at: path)
    #expect(log.queue.pending.map(\.change.key) == ["k1"])
  }

  @Test(
    "OUT-3 a change added during a logout is refused, and no added change is lost"
  )
  func between() async throws {
    let bench = try Bench()
    let log = try await ChangeLog.open(at: bench.folder.path + "/changes.journal")
    var configuration = bench.configuration(.keeping)
    configuration.attach(log)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let journal = session.engine.log.identifier.asIdentifier
    #expect(await session.engine.configuration.holdForLogout(journal, of: session.state.user) == 0)
    let other = try await bench.open(.keeping)
    await #expect(throws: ChangeLogError.self) {
      try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: other.gate)
    }
    await session.engine.configuration.releaseHold(journal)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: other.gate)
    await #expect(throws: SessionError.pendingChanges(1)) { try await session.logout() }
    try await log.discardAll()
    #expect(try await session.logout() == .success)
    #expect(other.isAuthenticated, "it has not looked")
    await #expect(throws: ChangeLogError.signInEnded) {
      try await log.add(ChangeBench.change(.create, 2, key: "k2"), through: other.gate)
    }
    // A logout without a session holds nothing.
    #expect(try await session.logout() == .alreadyLoggedOut)
    try await session.login(bench.credentials)
    try await log.add(ChangeBench.change(.create, 3, key: "k3"), through: session.gate)
    try await other.close()
    try await session.close()
  }

  @Test(
    "SYN-5 a failed clearing is retried by a timer, at a login and at the next opening"
  )
  func failing() async throws {
    let bench = try Bench()
    let fails = Mutex(true)
    let calls = Mutex(0)
    var configuration = bench.configuration(.keeping)
    let hooks = SessionHooks(clearLocalData: { _ in
      let isToFail = fails.withLock { $0 }
      calls.withLock { $0 += 1 }
      if isToFail { throw Odd() }
    })
    configuration.add(host: hooks)
    var session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    #expect(try await session.logout() == .partial(.localDataRemains))
    #expect(calls.withLock { $0 } == 1)
    let due = bench.clock.now().uptime + 1_000
    await eventually("it waits for its next try") { bench.clock.nextDeadline == due }
    bench.clock.advance(by: .seconds(1))
    await eventually("the second try") { calls.withLock { $0 } == 2 }
    try await session.close()
    session = try await Session.open(configuration)
    await eventually("the next opening") { calls.withLock { $0 } == 3 }
    fails.withLock { $0 = false }
    try await session.login(bench.credentials)
    #expect(calls.withLock { $0 } == 4, "before the sign-in")
    #expect(try await session.logout() == .success)
    try await session.close()
    session = try await Session.open(configuration)
    try await session.close()
    #expect(calls.withLock { $0 } == 5)
  }

  @Test(
    "OUT-3 a logout by the policy keeps pending changes, unless the app says otherwise",
    arguments: [false, true])
  func policy(discarding: Bool) async throws {
    let bench = try Bench()
    let log = try await ChangeLog.open(at: bench.folder.path + "/changes.journal")
    var policy = SessionPolicy.keeping
    policy.ending.onRejection = .clear
    var configuration = bench.configuration(policy)
    configuration.attach(log, discardingOnPolicyLogout: discarding)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: session.gate)
    bench.server.failNext(.refresh, with: .status(401))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state == .unauthenticated)
    #expect(try await session.logout() == .alreadyLoggedOut, "and it waits for the clearing")
    #expect(try await log.pendingCount() == (discarding ? 0 : 1))
    // The same user can send them again.
    try await session.login(bench.credentials)
    let drained = try await log.drain(through: session.gate) { _ in .done }
    #expect(drained.acknowledged == (discarding ? 0 : 1))
    try await session.close()
  }

  @Test(
    "OUT-3 SYN-5 changes before a logout are discarded although a login without the log followed"
  )
  func overtaken() async throws {
    let bench = try Bench()
    let log = try await ChangeLog.open(at: bench.folder.path + "/changes.journal")
    let first = try await bench.signedIn(.keeping)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: first.gate)
    try await first.logout()
    try await first.login(bench.credentials)
    try await log.add(ChangeBench.change(.create, 2, key: "k2"), through: first.gate)
    try await first.close()
    var configuration = bench.configuration(.keeping)
    configuration.attach(log)
    let session = try await Session.open(configuration)
    await eventually("the first one's go") { log.queue.pending.map(\.change.key) == ["k2"] }
    await #expect(throws: SessionError.pendingChanges(1)) { try await session.logout() }
    try await session.close()
  }
}
