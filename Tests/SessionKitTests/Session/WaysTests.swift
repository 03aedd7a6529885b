import Foundation
import SessionKit
import SessionTestKit
import Testing

/// The logins that the scenarios do not cover: refusals before the network, and descriptions.
@Suite("A session: kinds of login")
struct WaysTests {
  @Test("LOG-1 LOG-5 invalid credentials of each kind are refused before a request is sent")
  func validation() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (provider, token) in [("", "t"), (" ", "t"), ("google", "")] {
      let error = await failure { () async throws(SessionError) in
        try await session.login(.provider(provider, token: Secret(token)))
      }
      #expect(error.isExactly(.invalidCredential(.emptyProviderToken)))
    }
    let error = await failure { () async throws(SessionError) in
      try await session.login(.registration("ada@x.y", "short"))
    }
    #expect(error.isExactly(.invalidCredential(.passwordTooShort(minimumLength: 8))))
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }

  @Test("LOG-5 a login that the backend does not offer throws and sends nothing")
  func notOffered() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let errors = [
      await failure { () async throws(SessionError) in
        try await session.login(.provider("google", token: Secret("t")))
      },
      await failure { () async throws(SessionError) in
        try await session.login(.registration("ada@x.y", "pass-word"))
      },
      await failure { () async throws(SessionError) in
        try await session.login(.custom("passkey", ["response": "r"]))
      },
    ]
    for error in errors {
      #expect(error.failure == .notOffered)
    }
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }

  @Test("STO-3 no description of a credential shows a token, a password or an address")
  func redacted() {
    let credentials: [Credential] = [
      .password("ada@x.y", "pass-word"),
      .registration("ada@x.y", "pass-word", fields: ["first_name": "Ada"]),
      .provider("google", token: Secret("pass-word")), .refreshToken(Secret("pass-word")),
      .custom("Ada", ["ada@x.y": "pass-word"]),
    ]
    for credential in credentials {
      #expect("\(credential)" == "<redacted>" && String(reflecting: credential) == "<redacted>")
      #expect(Mirror(reflecting: credential).children.isEmpty)
    }
  }

  @Test("LOG-5 RES-3 unlocking a closed session throws, and an open session needs no unlocking")
  func unlock() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    #expect(try await session.unlock().kind == .authenticated)
    try await session.close()
    let error = await failure { () async throws(SessionError) in try await session.unlock() }
    #expect(error == .closed)
  }
}
