import Foundation
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// One journal and its secrets, opened with the configuration of another backend.
@Suite("A session: secrets of another backend")
struct OtherBackendTests {
  private let bench: Bench
  private let other: LoopbackServer

  init() throws {
    bench = try Bench()
    other = try LoopbackServer.start()
  }

  private func configuration(_ change: (inout HTTPBackend) -> Void) -> SessionConfiguration {
    var configuration = bench.configuration()
    change(&configuration.http)
    return configuration
  }

  private var elsewhere: SessionConfiguration {
    configuration { $0 = .snakeCaseJSON(other.baseURL) }
  }

  private func refused(_ configuration: SessionConfiguration) async -> SecretItem? {
    let error = await failure { () async throws(SessionError) in
      try await Session.open(configuration)
    }
    guard case .otherBackend(let item, let stored, let configured)? = error.secretsError else {
      Issue.record("\(String(describing: error))")
      return nil
    }
    #expect(stored != configured && stored.contains("http://127.0.0.1"))
    return item
  }

  /// All bytes of the journal and of the stored items.
  private func contents() throws -> [String: Data] {
    var contents = ["": try Data(contentsOf: URL(filePath: bench.journal))]
    for name in try bench.files() {
      contents[name] = try Data(contentsOf: URL(filePath: bench.secrets + "/" + name))
    }
    return contents
  }

  @Test("STO-6 opening with another base address is refused, and nothing is sent or changed")
  func otherAddress() async throws {
    defer { other.stop() }
    try await bench.signedIn().close()
    let before = try contents()
    let calls = bench.server.calls.count
    #expect(await refused(elsewhere) == .token)
    #expect(other.calls.isEmpty && bench.server.calls.count == calls)
    #expect(try contents() == before)
    // Nothing was lost: with its own backend the session continues.
    let again = try await bench.open()
    try await again.refresh()
    #expect(again.currentToken?.generation == Generation(2))
    try await again.close()
  }

  @Test("STO-6 another client or another origin of an endpoint is another backend")
  func otherClient() async throws {
    defer { other.stop() }
    try await bench.signedIn().close()
    #expect(await refused(configuration { $0.client = .form(id: "app-2") }) == .token)
    let address = other.baseURL.absoluteString
    for step in [\HTTPBackend.refresh, \.revocation, \.switchContext, \.profile] {
      let endpoint = HTTPEndpoint.post("\(address)/auth/step", refreshToken: .member("token"))
      #expect(await refused(configuration { $0[keyPath: step] = endpoint }) == .token)
    }
    #expect(other.calls.isEmpty)
  }

  private func stored(_ item: SecretItem) throws -> BackendIdentity? {
    let bytes = try FileSecretStore(folder: bench.secrets).read(item)
    return bytes.flatMap(BackendIdentity.init(ofItem:))
  }

  @Test("STO-6 tokens of an older version have no backend, and the next write binds them")
  func unbound() async throws {
    defer { other.stop() }
    try await bench.signedIn().close()
    let store = FileSecretStore(folder: bench.secrets)
    let bytes = try #require(try store.read(.token))
    let old = try StoredToken(decoding: bytes).encoded()
    #expect(!String(decoding: old, as: UTF8.self).contains("backend"))
    try store.write(.token, old)
    let session = try await bench.open()
    #expect(session.currentToken?.generation == Generation(1))
    #expect(try stored(.token) == nil)
    try await session.refresh()
    #expect(try stored(.token) == bench.configuration().http.identity)
    try await session.close()
    #expect(await refused(elsewhere) == .token)
  }

  @Test("STO-6 OUT-1 a pending revocation is sent only to its own backend")
  func revocation() async throws {
    defer { other.stop() }
    let session = try await bench.signedIn()
    bench.server.failNext(.logout, with: .status(503))
    try await session.logout()
    try await session.close()
    #expect(try bench.files().contains { $0.contains("revocation") })
    // Users of the other backend can log in. The revocation stays unread and unsent.
    let foreign = try await Session.open(elsewhere)
    #expect(!foreign.isAuthenticated)
    try await foreign.close()
    #expect(try bench.files().contains { $0.contains("revocation") })
    #expect(other.calls.isEmpty)
    let again = try await bench.open()
    await eventually("the server is told") { bench.server.count(of: .logout) == 2 }
    try await again.close()
  }

  @Test("STO-6 RES-3 another backend's secrets that become readable later are refused")
  func locked() async throws {
    defer { other.stop() }
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    var configuration = elsewhere
    configuration.secrets = store
    store.isAvailable = false
    let session = try await Session.open(configuration)
    #expect(!session.canRefreshToken)
    store.isAvailable = true
    let bytes = try store.read(.token)
    await session.retry()
    #expect(session.activity == .loading && session.currentToken == nil)
    guard case .otherBackend? = session.storageProblem.secretsError else {
      Issue.record("\(String(describing: session.storageProblem))")
      return
    }
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(other.calls.isEmpty)
    #expect(try store.read(.token) == bytes)
    try await session.close()
  }

  @Test("STO-6 a token that another backend's login stored later is not used, sent or removed")
  func signedInElsewhere() async throws {
    defer { other.stop() }
    let late = try await Session.open(elsewhere)
    let session = try await bench.signedIn()
    _ = await failure { () async throws(SessionError) in try await late.refresh() }
    #expect(late.currentToken == nil && !late.canRefreshToken)
    _ = await failure { () async throws(SessionError) in try await late.login(bench.credentials) }
    #expect(other.calls.isEmpty)
    try await late.close()
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    try await session.close()
  }

  @Test("STO-6 WEB-6 a token that a provider owns is bound like any other")
  func owned() throws {
    defer { other.stop() }
    let facts = TokenMetadata.plain(1, issuedAt: Timestamp(milliseconds: 0), lifetime: .seconds(1))
    let login = SessionEvent.login(
      SessionEvent.Login(user: "u", method: .interactive, token: facts, context: nil))
    let journal = JournalIdentifier(high: 1, low: 2)
    let token = StoredToken(
      journal: journal.description, facts: facts, access: Secret("A1"), refresh: nil,
      announcement: login, at: Timestamp(milliseconds: 0), isOwned: true)
    let store = MemorySecretStore()
    let mine = StoredCredentials(
      store: store, journal: journal, binding: bench.configuration().binding)
    let others = StoredCredentials(store: store, journal: journal, binding: elsewhere.binding)
    try mine.write(token)
    #expect(try mine.token()?.isOwned == true)
    #expect(throws: SecretStoreError.self) { try others.token() }
    let entry = StoredRevocations.Entry(token, of: "u", isAccount: true)
    try mine.keep(entry)
    #expect(try mine.revocations().map(\.isOwned) == [true])
    #expect(throws: SecretStoreError.self) { try others.revocations() }
    #expect(throws: SessionError.self) { try others.keep(entry) }
  }

  @Test("STO-6 a backend is identified by its origins and client, not by spelling, path or secret")
  func names() throws {
    func backend(_ text: String, _ change: (inout HTTPBackend) -> Void = { _ in }) throws
      -> BackendIdentity
    {
      var wire = HTTPBackend.snakeCaseJSON(try #require(URL(string: text)))
      change(&wire)
      return wire.identity
    }
    let plain = try backend("https://api.school.test")
    #expect(plain.origins == ["https://api.school.test"] && plain.client == nil)
    for same in ["https://API.School.test:443/v1/", "https://u:p@api.school.test/v2?x=1"] {
      #expect(try backend(same) == plain)
    }
    for unlike in [
      "http://api.school.test", "https://api.school.test:8443", "https://school.test",
      "https://api.school.test.evil.test",
    ] {
      #expect(try !plain.covers(backend(unlike)), "\(unlike)")
    }
    let further = try backend("https://api.school.test") {
      $0.furtherRevocations = [.post("https://tokens.test/revoke", refreshToken: .bearer)]
    }
    #expect(further.origins.contains("https://tokens.test") && !plain.covers(further))
    let form = try backend("https://api.school.test") {
      $0.client = .form(id: "app", secret: Secret("hush"))
    }
    let basic = try backend("https://api.school.test") {
      $0.client = .basic(id: "app", secret: Secret("other"))
    }
    #expect(form == basic && !form.covers(plain) && !plain.covers(form))
    #expect(!"\(form)".contains("hush"))
  }
}
