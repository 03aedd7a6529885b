import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// Responses that bring a new token and other members that are wrong.
@Suite("A session: replacement of a used token")
struct SpentTokenTests {
  private func signedIn() async throws -> (AnswerBench, Session) {
    var wire = try AnswerBench.camelCaseWire()
    wire.profile = nil
    let bench = try AnswerBench(wire)
    bench.answer(
      #"{"accessToken":"A1","refreshToken":"R1","expiresIn":900,"#
        + #""user":{"id":42,"email":"ana@tik.test","firstName":"Ana"},"#
        + #""activeContext":{"roleId":"r","roleName":"teacher"}}"#)
    let session = try await bench.open()
    try await session.login(.password("ana@tik.test", "secreta-9"))
    return (bench, session)
  }

  @Test("REF-5 a refresh replaces the user's members that it names, and keeps the others")
  func merged() async throws {
    let (bench, session) = try await signedIn()
    bench.answer(
      #"{"accessToken":"A2","expiresIn":900,"user":{"id":42,"lastName":"Sol","firstName":"Any"}}"#)
    try await session.refresh()
    #expect(
      session.currentUser
        == UserProfile(id: "42", email: "ana@tik.test", firstName: "Any", lastName: "Sol"))
    try await session.close()
    let again = try await bench.open()
    #expect(again.currentUser?.lastName == "Sol" && again.currentUser?.email == "ana@tik.test")
    try await again.close()
  }

  @Test(
    "CTX-1 REF-7 a switch with an unreadable context keeps its new token, and throws")
  func switched() async throws {
    var wire = HTTPBackend.snakeCaseJSON(try AnswerBench.url())
    wire.tokenForm = .opaque
    let bench = try AnswerBench(wire)
    bench.answer(
      #"{"access_token":"A1","refresh_token":"R1","expires_in":900,"user":{"id":"u"},"#
        + #""active_context":{"role_id":"r"}}"#)
    let session = try await bench.open()
    try await session.login(.password("a@b.test", "secreta-9"))
    bench.answer(#"{"access_token":"A2","refresh_token":"R2","context":{}}"#)
    let error = await failure { () async throws(SessionError) in
      try await session.switchContext(to: ContextTarget(role: "r2"))
    }
    guard case .unreadableAnswer? = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(session.currentToken?.secret == Secret("A2"))
    #expect(session.activeContext?.role.id == "r")
    bench.answer(#"{"access_token":"A3","expires_in":900}"#)
    try await session.refresh()
    #expect(bench.lastBody.contains("R2"))
    try await session.close()
  }

  @Test("STO-3 a token's `jti` that is an e-mail address is not journaled")
  func tokenName() async throws {
    let bench = try AnswerBench(HTTPBackend.snakeCaseJSON(try AnswerBench.url()))
    let token = LoopbackToken.make(claims: ["jti": "maria@school.test"])
    let body = #"{"access_token":"\#(token)","expires_in":900,"refresh_token":"r""#
    bench.answer(body + #","user":{"id":"u"},"active_context":{"role_id":"r"}}"#)
    let session = try await bench.open()
    try await session.login(.password("a@b.test", "secreta-9"))
    bench.answer(body + "}")
    try await session.refresh()
    _ = try await session.logout()
    try await session.close()
    let journal = try Data(contentsOf: URL(fileURLWithPath: bench.bench.journal))
    #expect(journal.range(of: Data("@school.test".utf8)) == nil)
  }
}
