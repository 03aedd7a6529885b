import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

/// A store that may refuse to remove anything.
private final class StubbornStore: SecretStore {
  let items = MemorySecretStore()
  let refuses = Mutex(false)

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? { try items.read(item) }
  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try items.write(item, bytes)
  }
  func remove(_ item: SecretItem) throws(SecretStoreError) {
    guard !refuses.withLock({ $0 }) else {
      throw .failed(item: item, place: "memory", operation: "remove", code: 1)
    }
    try items.remove(item)
  }
  func setAside(_ item: SecretItem) throws(SecretStoreError) { try items.setAside(item) }
  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try items.removeSetAside(item)
  }
}

@Suite("Moving a session")
struct MoveTests {
  private let bench: Bench
  private var old: URL { bench.folder.appending(path: "old") }
  private var new: URL { bench.folder.appending(path: "new") }

  init() throws { bench = try Bench() }

  private func configuration(
    at place: URL, from former: URL? = nil, secrets: (any SecretStore)? = nil
  ) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      directory: place, backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL),
      secrets: FileSecretStore(folder: place.path), policy: .bench, clock: bench.clock)
    if let secrets { configuration.secrets = secrets }
    configuration.formerPlace = former.map {
      .init(directory: $0, secrets: FileSecretStore(folder: $0.path))
    }
    return configuration
  }

  private func loggedIn(at place: URL) async throws -> Session {
    let session = try await Session.open(configuration(at: place))
    try await session.login(bench.credentials)
    return session
  }

  private func names(_ place: URL) throws -> [String] {
    var reader = try JournalReader(path: place.appending(path: "session.journal").path)
    var names: [String] = []
    while let record = try reader.next() {
      let known = SessionNote.Kind(rawValue: record.kind)?.description
      names.append(
        known ?? SessionEvent.Kind(rawValue: record.kind)?.description ?? "\(record.kind)")
    }
    return names
  }

  private func hasToken(_ place: URL) throws -> Bool {
    try FileSecretStore(folder: place.path).read(.token) != nil
  }

  @Test("ACC-3 the step follows from what is at both places, as the page says")
  func table() throws {
    let rows = SpecPage("Moving.md").rows(["former place", "this place", "copy staged", "step"])
    for former in MoveStep.Content.allCases {
      for here in MoveStep.Content.allCases {
        for isStaged in [true, false] {
          let found = rows.filter { row in
            row[0] == former.rawValue
              && (row[1] == "any" || row[1].components(separatedBy: ", ").contains(here.rawValue))
              && [isStaged ? "yes" : "no", "any"].contains(row[2])
          }
          let step = MoveStep(former: former, here: here, isStaged: isStaged)
          #expect(found.map { $0[3] } == [step.rawValue], "\(former) \(here) \(isStaged)")
        }
      }
    }
  }

  @Test("ACC-3 a session moves, and goes back, with a process of the old place still running")
  func thereAndBack() async throws {
    let running = try await loggedIn(at: old)
    let moved = try await Session.open(configuration(at: new, from: old))
    #expect(moved.isAuthenticated && moved.moveProblem == nil)
    #expect(try hasToken(new) && !hasToken(old))
    #expect(try names(old).suffix(2) == ["191", "16"] && names(new).contains("moved"))
    let requests = bench.server.count(of: .refresh)
    await #expect(throws: SessionError.movedAway(from: old.path + "/session.journal")) {
      try await running.refresh()
    }
    #expect(bench.server.count(of: .refresh) == requests && running.isAuthenticated)
    try await moved.refresh()
    #expect(bench.server.count(of: .refresh) == requests + 1)
    try await running.close()
    // Started again, it neither logs out nor sets the file aside.
    var again = configuration(at: old)
    again.policy.recovery = .resume
    await #expect(throws: SessionError.movedAway(from: old.path + "/session.journal")) {
      try await Session.open(again)
    }
    try await moved.close()
    let later = try await Session.open(configuration(at: new, from: old))
    #expect(try later.isAuthenticated && names(new).filter { $0 == "moved" }.count == 1)
    try await later.close()

    let back = try await Session.open(configuration(at: old, from: new))
    #expect(back.isAuthenticated && back.moveProblem == nil)
    #expect(try hasToken(old) && !hasToken(new))
    #expect(try names(new).last == "16" && names(old).filter { $0 == "moved" }.count == 2)
    try await back.refresh()
    try await back.close()
    let last = try await Session.open(configuration(at: new, from: old))
    #expect(last.isAuthenticated && last.moveProblem == nil)
    try await last.close()
  }

  @Test("ACC-3 a session stays where it is if the new store refuses, or while a request is open")
  func stays() async throws {
    let session = try await loggedIn(at: old)
    let locked = MemorySecretStore()
    locked.isAvailable = false
    let stayed = try await Session.open(configuration(at: new, from: old, secrets: locked))
    #expect(stayed.moveProblem?.code == .locked || stayed.moveProblem?.code == .storage)
    #expect(stayed.isAuthenticated && stayed.configuration.journal.hasPrefix(old.path))
    #expect(try !names(old).contains("16"))
    try await stayed.refresh()
    try await stayed.close()

    let gate = bench.server.hold(.refresh)
    // It takes the newer token first, so that it has to send a request of its own.
    try await session.refresh()
    async let answer = session.refresh()
    await eventually("the request waits") { gate.waiting == 1 }
    let waits = try await Session.open(configuration(at: new, from: old))
    #expect(waits.moveProblem?.failure == .cannotMoveYet && waits.isAuthenticated)
    gate.open()
    _ = try await answer
    try await waits.close()
    try await session.close()
    let moved = try await Session.open(configuration(at: new, from: old))
    #expect(moved.moveProblem == nil && moved.isAuthenticated)
    try await moved.close()
  }

  @Test("ACC-3 a session replaces one without a user, and never one with a user")
  func places() async throws {
    let empty = try await Session.open(configuration(at: new))
    try await loggedIn(at: old).close()
    let moved = try await Session.open(configuration(at: new, from: old))
    #expect(moved.isAuthenticated && moved.moveProblem == nil)
    await #expect(throws: SessionError.self) { try await empty.login(bench.credentials) }
    try await empty.close()
    try await moved.close()

    let other = bench.folder.appending(path: "other")
    try await loggedIn(at: other).close()
    let kept = try await Session.open(configuration(at: new, from: other))
    #expect(try kept.isAuthenticated && !names(other).contains("16") && hasToken(other))
    try await kept.close()
    await #expect(throws: SessionError.self) {
      try await Session.open(configuration(at: new, from: new))
    }
  }

  @Test("ACC-3 a store that both places share keeps its items, and items of another user stay")
  func stores() async throws {
    let shared = MemorySecretStore()
    var former = configuration(at: old)
    former.secrets = shared
    let session = try await Session.open(former)
    try await session.login(bench.credentials)
    try await session.close()
    var one = configuration(at: new, secrets: shared)
    one.formerPlace = .init(directory: old, secrets: shared)
    let moved = try await Session.open(one)
    try await moved.refresh()
    #expect(moved.moveProblem == nil && moved.isAuthenticated)
    try await moved.close()

    let (third, others) = (bench.folder.appending(path: "third"), MemorySecretStore())
    var other = configuration(at: bench.folder.appending(path: "fourth"))
    other.secrets = others
    let owner = try await Session.open(other)
    try await owner.login(bench.credentials)
    let before = try others.read(.token)
    var taken = configuration(at: third, secrets: others)
    taken.formerPlace = .init(directory: new, secrets: shared)
    let stays = try await Session.open(taken)
    #expect(stays.moveProblem?.failure == .secretsOfAnotherSession && stays.isAuthenticated)
    #expect(try others.read(.token) == before)
    try await stays.close()
    try await owner.close()
  }

  @Test("ACC-3 a former store that keeps its items does not keep the session")
  func leftItems() async throws {
    let kept = StubbornStore()
    var former = configuration(at: old)
    former.secrets = kept
    let session = try await Session.open(former)
    try await session.login(bench.credentials)
    try await session.close()
    var target = configuration(at: new)
    target.formerPlace = .init(directory: old, secrets: kept)
    kept.refuses.withLock { $0 = true }
    let moved = try await Session.open(target)
    #expect(moved.isAuthenticated && moved.moveProblem?.code == .storage)
    #expect(moved.configuration.journal.hasPrefix(new.path))
    try await moved.close()
    kept.refuses.withLock { $0 = false }
    let again = try await Session.open(target)
    #expect(again.isAuthenticated && again.moveProblem == nil && kept.items.items.isEmpty)
    #expect(try names(new).filter { $0 == "moved" }.count == 1)
    try await again.close()
  }

  @Test("ACC-1 ACC-3 an account that has not moved is not removed before it has")
  func account() async throws {
    try await loggedIn(at: old).close()
    let locked = MemorySecretStore()
    locked.isAvailable = false
    let found = try await Session.remove(configuration(at: new, from: old, secrets: locked))
    #expect(found == .pending)
  }
}
