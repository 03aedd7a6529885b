import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionKit

/// Two accounts with a journal each, and by mistake the same store for their secrets.
@Suite("A session: secrets of another account")
struct SharedSecretsTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private var other: String { bench.folder.appending(path: "b.journal").path }

  private func configuration(_ path: String, _ store: (any SecretStore)? = nil)
    -> SessionConfiguration
  {
    var configuration = bench.configuration(store: store)
    configuration.journal = path
    return configuration
  }

  private func refused(_ configuration: SessionConfiguration) async -> SessionError? {
    await failure { () async throws(SessionError) in try await Session.open(configuration) }
  }

  private func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try bench.files() {
      contents[name] = try Data(contentsOf: URL(filePath: bench.secrets + "/" + name))
    }
    return contents
  }

  @Test(
    "RES-5 a second journal on the same secrets is refused while the first exists"
  )
  func refused() async throws {
    let first = try await bench.signedIn()
    let before = try contents()
    #expect(
      await refused(configuration(other)).isExactly(
        .secretsOfAnotherSession(journal: bench.journal)))
    #expect(!FileManager.default.fileExists(atPath: other), "no journal is made")
    #expect(try contents() == before)
    try await first.refresh()
    try await first.close()
    // The same holds if the second journal existed before, and if the first session is closed.
    _ = try await Session.open(
      configuration(other, MemorySecretStore())
    ).close()
    #expect(
      await refused(configuration(other)).isExactly(
        .secretsOfAnotherSession(journal: bench.journal)))
    let again = try await bench.open()
    #expect(again.isAuthenticated && again.currentToken?.generation == Generation(2))
    try await again.logout()
    try await again.close()
    // After the logout the secrets have no owner, so the next login can use the store.
    let second = try await Session.open(configuration(other))
    try await second.login(bench.credentials)
    try await second.close()
    #expect(
      await refused(configuration(bench.journal)).isExactly(
        .secretsOfAnotherSession(journal: other)))
  }

  @Test(
    "RES-5 a journal that was deleted or replaced owns no secrets, and the policy decides"
  )
  func gone() async throws {
    for isReplaced in [false, true] {
      let bench = try Bench()
      try await bench.signedIn().close()
      try Journal.delete(at: bench.journal)
      if isReplaced { try await bench.open(store: MemorySecretStore()).close() }
      var configuration = bench.configuration()
      configuration.journal = bench.folder.appending(path: "b.journal").path
      let before = try bench.files()
      let session = try await Session.open(configuration)
      #expect(session.state == .unauthenticated)
      // One failed search does not prove that it is gone (RES-7).
      if !isReplaced { #expect(try bench.files() == before && session.activity == .loading) }
      await bench.passDoubt(session)
      #expect(try bench.files() == before && session.activity == .idle)
      try await session.close()
      bench.clock.advance(by: .milliseconds(AbsenceDoubt.patience))
      let again = try await Session.open(configuration)
      if !isReplaced { await bench.passDoubt(again) }
      #expect(try bench.files().isEmpty && again.activity == .idle)
      try await again.close()
    }
  }

  @Test(
    "RES-5 RES-3 another journal's secrets that become readable later are refused"
  )
  func locked() async throws {
    let store = MemorySecretStore()
    let first = try await bench.signedIn(store: store)
    store.isAvailable = false
    let second = try await Session.open(configuration(other, store))
    store.isAvailable = true
    await second.retry()
    #expect(second.activity == .loading && second.currentToken == nil)
    #expect(
      second.storageProblem.isExactly(.secretsOfAnotherSession(journal: bench.journal)))
    #expect(store.items.contains(.token))
    try await second.close()
    try await first.refresh()
    try await first.close()
  }

  @Test(
    "RES-5 LOG-10 if both sessions are open before a login, the second login is refused"
  )
  func bothOpen() async throws {
    let first = try await bench.open()
    let second = try await Session.open(configuration(other))
    try await first.login(bench.credentials)
    let before = try contents()
    let credentials = bench.credentials
    #expect(
      await failure { () async throws(SessionError) in try await second.login(credentials) }
        == .secretsOfAnotherSession(journal: bench.journal))
    #expect(second.state == .unauthenticated)
    #expect(try contents() == before)
    try await second.close()
    try await first.refresh()
    #expect(try await first.logout() == .success)
    try await first.close()
  }

  @Test(
    "RES-5 RES-7 after a container with both journals was moved, the items still have their owner",
    arguments: ["app", "Containers/Shared/AppGroup/\(UUID().uuidString)"])
  func movedContainer(name: String) async throws {
    let files = FileManager.default
    let old = bench.folder.appending(path: name)
    let new = old.deletingLastPathComponent().appending(path: UUID().uuidString)
    try files.createDirectory(
      at: old.appending(path: "sessions"), withIntermediateDirectories: true)
    let store = MemorySecretStore()
    let own = try await Session.open(configuration(old.path + "/sessions/a.journal", store))
    try await own.login(bench.credentials)
    try await own.close()
    try files.moveItem(at: old, to: new)
    let place = new.path + "/sessions/a.journal"
    // An extension with its own journal, and by mistake with the app's store for secrets.
    #expect(
      await refused(configuration(new.path + "/extension.journal", store)).isExactly(
        .secretsOfAnotherSession(journal: place)))
    #expect(store.items.contains(.token))
    let again = try await Session.open(configuration(place, store))
    #expect(again.isAuthenticated)
    try await again.close()
  }

  /// What prevents the proof that the first journal is gone.
  enum Obstacle: String, CaseIterable {
    case rights, folderRights, damage, folderInItsPlace, linkToNowhere
  }

  @Test(
    "RES-7 secrets whose owner's journal cannot be read are not touched",
    arguments: Obstacle.allCases, [SessionPolicy.OrphanedSecrets.wipe, .adopt])
  func unreadableOwner(_ obstacle: Obstacle, _ policy: SessionPolicy.OrphanedSecrets) async throws {
    let first = try await bench.signedIn()
    try await first.close()
    let before = try contents()
    let disk = RefusingFiles()
    let files = FileManager.default
    let kept = bench.journal + ".kept"
    switch obstacle {
    case .rights: disk.refused = [bench.journal]
    case .folderRights:
      try files.moveItem(atPath: bench.journal, toPath: kept)
      disk.hidden = [bench.journal]
    case .damage:
      try files.copyItem(atPath: bench.journal, toPath: kept)
      try Data("no journal".utf8).write(to: URL(filePath: bench.journal))
    case .folderInItsPlace:
      try files.moveItem(atPath: bench.journal, toPath: kept)
      try files.createDirectory(atPath: bench.journal, withIntermediateDirectories: false)
    case .linkToNowhere:
      try files.moveItem(atPath: bench.journal, toPath: kept)
      try files.createSymbolicLink(
        atPath: bench.journal, withDestinationPath: bench.journal + ".elsewhere")
    }
    var second = configuration(other)
    second.journalOptions.fileSystem = disk
    second.policy.recovery.orphanedSecrets = policy
    try files.createDirectory(
      atPath: bench.folder.path, withIntermediateDirectories: true)
    let session = try await Session.open(second)
    for _ in 0..<5 {
      #expect(session.activity == .loading && session.state == .unauthenticated)
      guard let problem = session.storageProblem, problem.failure == .secretsOwnerUnreadable,
        problem.description.contains(bench.journal)
      else {
        Issue.record("\(String(describing: session.storageProblem))")
        break
      }
      bench.clock.advance(by: .seconds(2))
      await session.retry()
    }
    let credentials = bench.credentials
    let refusal = await failure { () async throws(SessionError) in
      try await session.login(credentials)
    }
    #expect(refusal == session.storageProblem)
    try await session.close()
    #expect(try contents() == before)
    // The first session continues as soon as its journal can be read.
    if obstacle != .rights {
      if obstacle != .folderRights { try files.removeItem(atPath: bench.journal) }
      try files.moveItem(atPath: kept, toPath: bench.journal)
    }
    let again = try await bench.open()
    #expect(again.isAuthenticated && again.currentToken != nil)
    try await again.close()
  }

  @Test("RES-7 an opening waits for a journal, or its folder, that is missing for a moment")
  func missingForAMoment() async throws {
    for isFolder in [false, true] {
      let bench = try Bench()
      let folder = bench.folder.appending(path: "journals")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      var configuration = bench.configuration()
      configuration.journal = folder.appending(path: "a.journal").path
      let session = try await Session.open(configuration)
      try await session.login(bench.credentials)
      try await session.close()
      let place = isFolder ? folder.path : configuration.journal
      try FileManager.default.moveItem(atPath: place, toPath: bench.folder.path + "/kept")
      let again = configuration
      let opening = Task { try await Session.open(again) }
      await eventually("it is waited for") { bench.clock.sleeperCount > 0 }
      #expect(!FileManager.default.fileExists(atPath: place), "no journal is made")
      try FileManager.default.moveItem(atPath: bench.folder.path + "/kept", toPath: place)
      bench.clock.advance(by: .seconds(1))
      let found = try await opening.value
      #expect(found.isAuthenticated && found.currentToken != nil)
      try await found.close()
    }
  }

  @Test("RES-7 a moved journal is searched by the last six parts of its path, and no more")
  func places() {
    let near = SecretsPlace.candidates(for: "/old/a/b/c/d/e/s.journal", near: "/new/own.journal")
    #expect(near.contains("/new/a/b/c/d/e/s.journal"))
    let far = SecretsPlace.candidates(for: "/a/b/c/d/e/f/s.journal", near: "/new/own.journal")
    #expect(far.contains("/new/b/c/d/e/f/s.journal") && !far.contains("/new/a/b/c/d/e/f/s.journal"))
    let deep = SecretsPlace.candidates(for: "/s.journal", near: "/new/b/c/d/e/f/own.journal")
    #expect(deep.contains("/new/s.journal"))
    let deeper = SecretsPlace.candidates(for: "/s.journal", near: "/new/b/c/d/e/f/g/own.journal")
    #expect(deeper.contains("/new/b/s.journal") && !deeper.contains("/new/s.journal"))
  }
}
