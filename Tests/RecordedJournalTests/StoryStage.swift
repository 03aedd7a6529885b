import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// A server, a clock that a story moves, and a folder with a journal and secrets.
final class StoryStage: Sendable {
  let server: LoopbackServer
  let clock = ManualClock()
  private let home: SessionFolder

  init() throws {
    server = try LoopbackServer.start()
    // Tokens expire by the manual clock, which differs from the server's.
    server.settings.update { $0.tellsTime = false }
    home = try SessionFolder()
  }

  deinit { server.stop() }

  var folder: URL { home.url }
  var journal: String { home.journal }
  var secrets: String { home.secrets }

  func configuration(_ policy: SessionPolicy, _ store: (any SecretStore)? = nil)
    -> SessionConfiguration
  {
    var configuration = SessionConfiguration(
      journal: journal, secrets: store ?? FileSecretStore(folder: secrets),
      backend: HTTPBackend.snakeCaseJSON(server.baseURL), policy: policy, clock: clock)
    configuration.followsOthers = false
    return configuration
  }

  func open(_ policy: SessionPolicy = .story, _ store: (any SecretStore)? = nil) async throws
    -> Session
  { try await Session.open(configuration(policy, store)) }

  /// The same, and time passes: a missing item is read again (RES-7).
  func openMissing() async throws -> Session {
    let configuration = configuration(.story)
    return try await clock.running { try await Session.open(configuration) }
  }

  func signedIn(_ policy: SessionPolicy = .story, _ store: (any SecretStore)? = nil) async throws
    -> Session
  {
    let session = try await open(policy, store)
    try await session.login(.sample)
    clock.advance(by: .seconds(60))
    return session
  }

  /// Lets half a second pass after an opening; the session refreshes its token then.
  func endLaunchPause() async {
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(500))
  }

  /// A session of a token that cannot be refreshed, adopted from an older storage layer.
  func adopted(lifetime: Int64) async throws -> Session {
    let session = try await open(.adopting)
    let token = LoopbackToken.make(claims: ["sub": .string(LoopbackUser.sample.id)])
    try await session.adopt(
      AdoptedTokens(
        access: Secret(token), lifetime: .milliseconds(lifetime),
        user: UserProfile(id: Identifier(LoopbackUser.sample.id))))
    return session
  }

  /// Refreshes while the server or the network fails: this many times, ten seconds apart.
  func refreshInVain(_ session: Session, times: Int = 1) async {
    for _ in 0..<times {
      clock.advance(by: .seconds(10))
      await fails { () async throws(SessionError) in try await session.refresh() }
    }
  }

  /// Runs an operation that must fail.
  func fails<Value>(
    _ call: () async throws(SessionError) -> Value,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    do {
      _ = try await call()
      Issue.record("it did not fail", sourceLocation: sourceLocation)
    } catch {}
  }

  // MARK: Files

  func secret(_ name: String) -> URL { folder.appending(path: "secrets/\(name)") }

  /// Changes fields of the stored token, which no program does.
  func editToken(_ change: (inout [String: Any]) -> Void) throws {
    let file = secret("token")
    var item = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    var fields = try #require(item["fields"] as? [String: Any])
    change(&fields)
    item["fields"] = fields
    try JSONSerialization.data(withJSONObject: item).write(to: file)
  }

  /// Replaces a stored item by one of a newer version.
  func makeNewer(_ name: String) throws {
    let file = secret(name)
    var item = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    item["v"] = 2
    try JSONSerialization.data(withJSONObject: item).write(to: file)
  }

  /// Copies a file or a folder.
  func copy(_ name: String, to other: String) throws {
    let target = folder.appending(path: other)
    if FileManager.default.fileExists(atPath: target.path) {
      try FileManager.default.removeItem(at: target)
    }
    try FileManager.default.copyItem(at: folder.appending(path: name), to: target)
  }

  /// Every record of the journal.
  func records() throws -> [(record: SessionRecord, offset: UInt64)] { try home.entries() }

  /// Keeps the part of the journal before the first record of a name, as after a crash.
  func cutJournal(before name: String, plus bytes: Int = 0) throws {
    let first = try #require(try records().first { $0.record.name == name })
    let file = URL(filePath: journal)
    try Data(contentsOf: file).prefix(Int(first.offset) + bytes).write(to: file)
  }

  /// Appends records by hand.
  func append(_ contents: [SessionRecord.Content]) throws {
    let journal = try Journal.open(at: journal)
    let time = clock.now().time
    _ = try journal.append(
      contents.map { content in
        let (kind, payload) = SessionCodec.encode(content, at: time)
        return JournalDraft(kind: kind, payload: payload)
      })
    try journal.close()
  }
}

extension SessionPolicy {
  /// Three attempts, and then the end.
  static var story: SessionPolicy {
    SessionPolicy.clearOnRefusal.named("story") {
      $0.refresh.beforeExpiry = .seconds(300)
      $0.refresh.attempts = 3
      $0.refresh.firstRetryDelay = .seconds(100_000)
      $0.refresh.longestRetryDelay = .seconds(100_000)
      $0.refresh.timeout = .seconds(5)
      $0.ending.onExhaustion = .end(.clear)
      $0.limits.loginsPerMinute = nil
    }
  }

  /// The same without removing anything.
  static var keeping: SessionPolicy {
    var policy = SessionPolicy.story
    (policy.ending.onRejection, policy.ending.onExhaustion) = (.keep, .stay)
    return policy
  }

  /// Without any item except the token.
  static var adopting: SessionPolicy {
    var policy = SessionPolicy.story
    policy.limits.profileCheck = .whenUnknown
    return policy
  }
}

/// Secrets in files, whose token item cannot be written for some time.
final class BrokenStore: SecretStore {
  private let files: FileSecretStore
  private let isBroken = Mutex(false)

  init(folder: String) { files = FileSecretStore(folder: folder) }

  func breakTokenItem(_ isBroken: Bool) { self.isBroken.withLock { $0 = isBroken } }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? { try files.read(item) }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard item != .token || !isBroken.withLock({ $0 }) else {
      throw .failed(item: item, place: files.folder, operation: "write", code: 5)
    }
    try files.write(item, bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try files.remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try files.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try files.removeSetAside(item)
  }
}
