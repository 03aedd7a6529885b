import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Testing

/// A provider that owns the tokens: whose they are, how long they are valid, and when the account
/// is removed (WEB-6).
@Suite("A session: the provider's accounts and tokens")
struct OwnedAccountTests {
  private let bench: Bench
  private let fake = FakeIdentity()
  private var provider: FakeProvider { FakeProvider(fake: fake) }
  private var view: FakeView { FakeView(fake: fake) }

  init() throws { bench = try Bench() }

  private func open(
    _ policy: SessionPolicy = .bench, owned: Bool = true
  ) async throws -> Session {
    var configuration = bench.configuration(policy)
    configuration.http = AppPreset.b2c(bench.server.baseURL, clientID: "c", scope: "s").backend
    if owned { configuration.identityProvider = provider }
    return try await Session.open(configuration)
  }

  private func removals(of user: String = "o-1") -> Int {
    fake.log.count { $0 == "removeAccount \(user)" }
  }

  /// Expects that these tokens log in no user.
  private func isRefused(_ tokens: IdentityTokens) async throws {
    let session = try await open()
    fake.give(tokens)
    let error = await failure { () async throws(SessionError) in
      try await session.login(.silently(with: provider))
    }
    #expect(error.isExactly(.webSignIn(.unreadableTokens)) && !session.isAuthenticated)
    try await session.close()
  }

  /// Whether the work does not throw.
  private func works(_ work: () async throws(SessionError) -> Void) async -> Bool {
    do throws(SessionError) { try await work() } catch { return false }
    return true
  }

  /// Tokens whose access token is opaque, and whose identity token has this payload.
  private func tokens(
    _ payload: String, access: String = "opaque", lifetime: Duration? = .seconds(3600)
  ) -> IdentityTokens {
    IdentityTokens(
      access: Secret(access), identity: FakeIdentity.idToken(payload), lifetime: lifetime)
  }

  // MARK: The account goes with every end

  @Test("WEB-6 OUT-1 a logout of an expired session removes the account, and an expiry does not")
  func expired() async throws {
    var policy = SessionPolicy.bench
    policy.ending.onRejection = .keep
    let session = try await open(policy)
    try await session.login(.provider(provider, in: view))
    fake.script("acquireSilently", .fail(WebSignInProblem.noAccount))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired && removals() == 0)
    #expect(try await session.logout() == .success)
    #expect(removals() == 1)
    #expect(
      try bench.eventNames() == ["login", "refreshFailed", "sessionExpired", "logout"])
    try await session.close()
    #expect(try bench.files().isEmpty)
  }

  @Test("WEB-6 OUT-1 the account is removed after a death between logout and wipe")
  func died() async throws {
    var policy = SessionPolicy.bench
    policy.ending.onRejection = .keep
    let session = try await open(policy)
    try await session.login(.provider(provider, in: view))
    fake.script("acquireSilently", .fail(WebSignInProblem.noAccount))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    let files = try bench.files().map { name in
      (name, try Data(contentsOf: URL(filePath: bench.secrets + "/" + name)))
    }
    fake.script("removeAccount o-1", .fail(URLError(.timedOut)))
    _ = try await session.logout()
    try await session.close()
    // The files are as before the wipe: the user is stored, and no revocation is.
    for name in try bench.files() {
      try FileManager.default.removeItem(atPath: bench.secrets + "/" + name)
    }
    for (name, bytes) in files {
      try bytes.write(to: URL(filePath: bench.secrets + "/" + name))
    }
    let told = removals()
    fake.script("removeAccount o-1", .work)
    let again = try await open(policy)
    await eventually("the provider is told") { removals() == told + 1 }
    try await again.close()
  }

  @Test("WEB-6 a login waits while the account is being removed")
  func waits() async throws {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    fake.script("removeAccount o-1", .waitAndIgnore)
    let leaving = Task { try await session.logout() }
    await eventually("the account is going") { fake.isWaiting("removeAccount o-1") }
    let coming = Task { try await session.login(.provider(provider, in: view)) }
    await eventually("the sign-in is asked for") { session.activity == .authenticating }
    let before = fake.log
    #expect(before.last == "removeAccount o-1")
    fake.letGo("removeAccount o-1")
    _ = try await leaving.value
    _ = try await coming.value
    #expect(fake.log.count > before.count && session.isAuthenticated)
    try await session.close()
  }

  // MARK: Whose tokens they are

  @Test(
    "WEB-6 REF-5 REF-17 newer tokens of another user are not used, and no other account is removed",
    arguments: [
      // The identity token has one claim, and it names another user.
      (#"{"sub":"ana"}"#, "opaque", #"{"sub":"bea"}"#, "opaque", false),
      (#"{"sub":"ana"}"#, "opaque", #"{"sub":"ana"}"#, "opaque", true),
      // The claim that named the user at login names another user.
      (#"{"oid":"ana"}"#, "opaque", #"{"oid":"bea"}"#, "opaque", false),
      // Another claim names a user, who may be the same one.
      (#"{"oid":"ana"}"#, "opaque", #"{"sub":"x-9"}"#, "opaque", false),
      (#"{"oid":"ana"}"#, "opaque", #"{"oid":"ana","sub":"x-9"}"#, "opaque", true),
      // The `sub` of the previous identity token decides.
      (#"{"oid":"ana","sub":"x-9"}"#, "opaque", #"{"sub":"x-9"}"#, "opaque", true),
      (#"{"oid":"ana","sub":"x-9"}"#, "opaque", #"{"sub":"y-1"}"#, "opaque", false),
      // The same claim of the previous access token decides.
      (#"{"oid":"ana"}"#, #"{"sub":"x-9"}"#, "{}", #"{"sub":"x-9"}"#, true),
      (#"{"oid":"ana"}"#, #"{"sub":"x-9"}"#, "{}", #"{"sub":"y-1"}"#, false),
      // No claim names a user.
      (#"{"oid":"ana"}"#, "opaque", "{}", "opaque", true),
    ])
  func whose(
    identity: String, access: String, newIdentity: String, newAccess: String, isSame: Bool
  ) async throws {
    func token(_ text: String, _ number: Int) -> String {
      text == "opaque"
        ? "opaque-\(number)"
        : FakeIdentity.idToken(text.dropLast() + #","n":\#(number)}"#).plaintext
    }
    let session = try await open()
    fake.give(tokens(identity, access: token(access, 1)))
    try await session.login(.provider(provider, in: view))
    #expect(session.state.user == "ana")
    fake.give(tokens(newIdentity, access: token(newAccess, 2)))
    let isTaken = await works { () async throws(SessionError) in
      _ = try await session.refresh()
    }
    #expect(isTaken == isSame)
    #expect((session.currentToken?.plaintext == token(newAccess, 2)) == isSame)
    #expect(!fake.log.contains { $0.hasPrefix("removeAccount") && !$0.hasSuffix(" ana") })
    try await session.close()
  }

  // MARK: How long they live

  @Test(
    "WEB-6 REF-1 tokens that have already expired log in no user",
    arguments: [.zero, .nanoseconds(-1), .seconds(-5), .seconds(Int64.min)] as [Duration])
  func deadOnArrival(lifetime: Duration) async throws {
    try await isRefused(tokens(#"{"oid":"o-1"}"#, lifetime: lifetime))
  }

  @Test("WEB-6 REF-1 a refresh that brings an expired token fails, and is not repeated endlessly")
  func deadRefresh() async throws {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    fake.give(tokens(#"{"oid":"o-1"}"#, lifetime: .zero))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error != nil && session.isAuthenticated)
    #expect(session.currentToken?.secret == Secret("access-SECRET-1"))
    let events = try bench.eventNames()
    #expect(events.first == "login" && events.dropFirst().allSatisfy { $0 == "refreshFailed" })
    try await session.close()
  }

  @Test("WEB-6 REF-8 the life of a token counts from its issue, whatever the device's clock says")
  func clockAhead() async throws {
    let session = try await open()
    let now = bench.clock.now().time.milliseconds / 1000
    // Issued two hours before this device's time, and valid for an hour.
    let access = FakeIdentity.idToken(
      #"{"oid":"o-1","iat":\#(now - 7200),"exp":\#(now - 3600)}"#)
    fake.give(
      IdentityTokens(access: access, identity: FakeIdentity.idToken(#"{"oid":"o-1"}"#)))
    try await session.login(.provider(provider, in: view))
    #expect(session.state.token?.lifetime == .seconds(3600) && !session.isTokenExpired)
    try await session.close()
  }

  @Test("WEB-6 an SDK may give an expiry date, and an extreme date is refused")
  func until() async throws {
    let session = try await open()
    let now = bench.clock.now().time.milliseconds
    for (date, isGood) in [
      (Date.distantFuture, false), (.distantPast, false),
      (Date(timeIntervalSince1970: .infinity), false),
      (Date(timeIntervalSince1970: Double(now) / 1000 + 60), true),
    ] {
      fake.give(
        IdentityTokens(
          access: Secret("opaque"), identity: FakeIdentity.idToken(#"{"oid":"o-1"}"#),
          expiresAt: date))
      let isTaken = await works { () async throws(SessionError) in
        _ = try await session.login(.silently(with: provider))
      }
      #expect(isTaken == isGood, "\(date)")
    }
    #expect(session.state.token?.lifetime == .seconds(60))
    try await session.close()
  }

  @Test("WEB-6 tokens of more than 1 MiB are refused")
  func huge() async throws {
    try await isRefused(
      tokens(#"{"oid":"o-1"}"#, access: String(repeating: "x", count: 1 << 20)))
  }

  // MARK: A process without the provider

  @Test("WEB-6 REF-6 a process without the provider cannot refresh, and does not end the session")
  func without() async throws {
    let session = try await open()
    try await session.login(.provider(provider, in: view))
    try await session.close()
    let other = try await open(owned: false)
    #expect(other.isAuthenticated && other.currentToken?.secret == Secret("access-SECRET-1"))
    bench.clock.advance(by: .seconds(3_600))
    let error = await failure { () async throws(SessionError) in try await other.refresh() }
    #expect(error != nil && other.isAuthenticated)
    _ = try await other.logout()
    try await other.close()
    #expect(removals() == 0)
    // A process with the provider performs the pending removal.
    let again = try await open()
    await eventually("the provider is told") { removals() == 1 }
    try await again.close()
  }
}
