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
        try await session.login(provider: provider, token: Secret(token))
      }
      #expect(error.failure == .invalidCredential(.emptyProviderToken))
    }
    let account = NewAccount(PasswordCredentials(userName: "ada@x.y", password: Secret("short")))
    let error = await failure { () async throws(SessionError) in
      try await session.register(account)
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
        try await session.login(provider: "google", token: Secret("t"))
      },
      await failure { () async throws(SessionError) in
        try await session.register(NewAccount(bench.credentials))
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
    let account = NewAccount(
      PasswordCredentials(userName: "ada@x.y", password: Secret("pass-word")),
      fields: ["first_name": "Ada"])
    let social = SocialCredentials(provider: "google", token: Secret("pass-word"))
    for text in [
      "\(account)", String(reflecting: account), "\(social)", String(reflecting: social),
    ] {
      #expect(!text.contains("pass-word") && !text.contains("ada@x.y") && !text.contains("Ada"))
    }
    for mirror in [Mirror(reflecting: account), Mirror(reflecting: social)] {
      #expect(mirror.children.isEmpty)
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
