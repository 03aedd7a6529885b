import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: login")
struct LoginTests {
  @Test("LOG-4 STA-4 a login sets the state, stores three private items and journals one event")
  func login() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    #expect(!session.isAuthenticated)
    #expect(session.activity == .idle)
    let user = try await session.login(bench.credentials).user

    #expect(user?.email == LoopbackUser.sample.email)
    #expect(session.isAuthenticated)
    #expect(session.currentUser?.id == Identifier(LoopbackUser.sample.id))
    #expect(session.currentToken?.generation == Generation(1))
    #expect(session.activeContext?.role.name == LoopbackContext.teacher.roleName)
    #expect(session.currentUserRole?.id == Identifier(LoopbackContext.teacher.roleID))
    #expect(session.isPermitted("materials:read"))
    #expect(!session.isPermitted("nothing:at-all"))
    #expect(session.currentPermissions == LoopbackContext.teacher.permissions.sorted())
    #expect(!session.isTokenExpired)
    #expect(session.canRefreshToken)
    #expect(try bench.eventNames() == ["login"])
    #expect(try bench.files() == ["context", "token", "user"])
    for name in try bench.files() {
      let mode = try FileManager.default.attributesOfItem(atPath: bench.secrets + "/" + name)[
        .posixPermissions]
      #expect(mode as? Int == 0o600)
    }
    try await session.close()
  }

  @Test("LOG-1 invalid credentials are refused before a request is sent")
  func validation() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (name, password, problem) in [
      ("", "long enough", CredentialRules.Problem.emptyUserName),
      ("ada.example.org", "long enough", .notAnEmail), ("ada@example", "long enough", .notAnEmail),
      ("ada@example.org", "", .emptyPassword),
      ("ada@example.org", "short", .passwordTooShort(minimumLength: 8)),
    ] {
      let error = await failure { () async throws(SessionError) in
        try await session.login(.password(name, password))
      }
      #expect(error.isExactly(.invalidCredential(problem)))
    }
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }
}
