import Foundation
@_spi(Internals) import SessionCore
import SessionMessages
import SessionTestKit
import SessionTestSupport
import Testing

@testable import SessionKit

/// The statements of the five apps' documents about users and texts, with a real session.
@Suite("The presets and their documents")
struct SeedTests {
  private static let credentials = Credential.password("ana@school.test", "correct horse")

  @Test("STA-4 POL-4 EDU's full name and school are stored with the user, also after a restart")
  func further() async throws {
    let bench = try AnswerBench(AppPreset.edu(AnswerBench.url()).backend)
    func tokens(_ user: String) -> String {
      let token = LoopbackToken.make(claims: ["sub": "u-7"])
      return #"{"access_token":"\#(token)","refresh_token":"r","expires_in":3600"#
        + #","active_context":{"role_id":"r-1"},"user":\#(user)}"#
    }
    bench.answer(tokens(#"{"id":"u-7","full_name":"Juan Perez","school_id":"s-1","shoe":44}"#))
    let session = try await bench.open()
    try await session.login(Self.credentials)
    #expect(session.currentUser?["full_name"] == "Juan Perez")
    #expect(session.currentUser?.further == ["full_name": "Juan Perez", "school_id": "s-1"])
    bench.answer(tokens(#"{"id":"u-7","school_id":"s-2"}"#))
    try await session.refresh()
    try await session.close()
    let again = try await bench.open()
    #expect(again.currentUser?.further == ["full_name": "Juan Perez", "school_id": "s-2"])
    try await again.close()
    let journal = try Data(contentsOf: URL(fileURLWithPath: bench.bench.journal))
    #expect(journal.range(of: Data("Juan Perez".utf8)) == nil)
  }

  @Test("STA-4 POL-4 API's user role is the current role, and a refresh may change it")
  func role() async throws {
    let bench = try AnswerBench(AppPreset.api(AnswerBench.url()).backend)
    func tokens(_ number: Int, _ role: String) -> String {
      #"{"accessToken":"a\#(number)","refreshToken":"r\#(number)","expiresIn":3600"#
        + #","user":{"id":"123"\#(role)}}"#
    }
    bench.answer(tokens(1, #","role":"user""#))
    var policy = SessionPolicy.bench
    policy.limits.requiredItems = [.token]
    let session = try await bench.open(policy)
    try await session.login(Self.credentials)
    #expect(session.currentUserRole?.id == "user" && session.currentUserRole?.name == "user")
    #expect(session.currentPermissions.isEmpty)
    bench.answer(tokens(2, ""))
    try await session.refresh()
    #expect(session.currentUserRole?.id == "user", "what is not said stays")
    bench.answer(tokens(3, #","role":"admin""#))
    try await session.refresh()
    #expect(session.currentUserRole?.id == "admin")
    #expect(try bench.bench.eventNames().last == "contextSwitched")
    try await session.close()
  }

  @Test("LOG-9 TIK's tokens of the old layer are adopted, with the lifetime of the `exp` claim")
  func adopted() async throws {
    let bench = try AnswerBench(AppPreset.tik(AnswerBench.url()).backend)
    let now = bench.bench.clock.now().time.milliseconds / 1_000
    let token = LoopbackToken.make(claims: ["sub": "42", "exp": .int(Int(now) + 900)])
    var policy = SessionPolicy.tik
    policy.limits.profileCheck = .whenUnknown
    let session = try await bench.open(policy)
    let old = ["token": token, "refreshToken": "r-1"]
    let isAdopted = try await session.adopt(
      AdoptedTokens(
        access: Secret(old["token"] ?? ""), refresh: old["refreshToken"].map { Secret($0) }))
    #expect(isAdopted)
    #expect(session.currentUser?.id == "42" && session.canRefreshToken)
    let life = try #require(session.state.token).lifetime
    #expect((.seconds(899) ... .seconds(900)).contains(life))
    #expect(FileSecretStore.Names().token == "token")
    #expect(FileSecretStore.Names().refreshToken == "refreshToken")
    try await session.close()
  }

  @Test("LOG-8 TIK replaces three Spanish texts, and keeps the library's texts in other languages")
  func words() {
    let words = AppPreset.tik(URL(fileURLWithPath: "/")).words
    let over = "Sesión expirada. Por favor, inicia sesión nuevamente."
    let texts: [(any UserFacing, String)] = [
      (SessionError.expired(EndCause()), over), (SessionError.loggedOut(EndCause()), over),
      (ExpiryReason.refreshRejected, over), (ExpiryReason.tokenExpired, over),
      (SessionError.unauthorized(code: nil), over),
      (SessionError.unexpectedStatus(418), "Respuesta inválida del servidor."),
      (SessionError.unreadableAnswer("x"), "Error al procesar datos del servidor."),
    ]
    for (value, text) in texts {
      #expect(words.text(of: value, in: .spanish) == text)
      #expect(words.text(of: value, in: .english) == value.text(in: .english))
      #expect(SessionWords.standard.text(of: value, in: .spanish) != text)
    }
    #expect(
      words.text(of: SessionError.noConnection("x"), in: .spanish)
        == SessionError.noConnection("x").text(in: .spanish))
  }

  @Test("POL-1 EDU's three environments have the documented figures")
  func environments() {
    let rows: [(SessionPolicy, Int64, UInt32, Int64)] = [
      (.development, 60_000, 10, 500), (.staging, 300_000, 3, 1_000),
      (.production, 600_000, 5, 2_000),
    ]
    for (environment, threshold, attempts, delay) in rows {
      let policy = AppPreset.edu(URL(fileURLWithPath: "/"), environment: environment).policy
      let figures = PolicyFigures(policy)
      #expect(figures.refreshThreshold == threshold && figures.maximumAttempts == attempts)
      #expect(figures.firstRetryDelay == delay)
    }
  }

  @Test("LOG-8 a session uses the texts of its configuration")
  func sessionWords() async throws {
    let bench = try Bench()
    var configuration = bench.configuration(.bench)
    configuration.words[.notSignedIn, .spanish] = "Entra primero."
    let session = try await Session.open(configuration)
    #expect(session.text(of: SessionError.notSignedIn, in: .spanish) == "Entra primero.")
    try await session.close()
  }
}
