import Foundation
import SessionKit
import SessionTestKit
import Testing

/// The ways in that the scenarios do not tell: what is refused before the network, and what shows nothing.
@Suite("A session: the ways in")
struct WaysTests {
  @Test("LOG-1 LOG-5 what cannot be right is refused before anything is sent, whatever the way")
  func validation() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (provider, token) in [("", "t"), (" ", "t"), ("google", "")] {
      let error = await failure { () async throws(SessionError) in
        try await session.login(.provider(provider, token: Secret(token)))
      }
      #expect(error.failure == .invalidCredential(.emptyProviderToken))
    }
    let error = await failure { () async throws(SessionError) in
      try await session.login(.registration("ada@x.y", "short"))
    }
    #expect(error.failure == .invalidCredential(.passwordTooShort(minimumLength: 8)))
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }

  @Test("LOG-5 a backend without a way in says so, and nothing is sent")
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
      guard case .notOffered? = error.failure else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }

  @Test("STO-3 what one signs in or registers with shows neither token nor password nor address")
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

  @Test("LOG-5 RES-3 a closed session is not unlocked, and one that is open needs no unlocking")
  func unlock() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    #expect(try await session.unlock().kind == .authenticated)
    try await session.close()
    let error = await failure { () async throws(SessionError) in try await session.unlock() }
    #expect(error == .closed)
  }
}
