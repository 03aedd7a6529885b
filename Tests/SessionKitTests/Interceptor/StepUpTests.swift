import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Calls that need the user")
struct StepUpTests {
  @Test(
    "STA-9 the challenges of a field are read by RFC 9110",
    arguments: [
      ("", []), (",, ,", []), ("Basic", ["basic"]), ("Bearer", ["bearer"]),
      (#"Basic realm="a, b""#, [#"basic realm=a, b"#]),
      (
        #"Bearer error="x", acr_values="a b", max_age=5"#,
        ["bearer acr_values=a b error=x max_age=5"]
      ),
      (#"Basic realm="x", Bearer error="y""#, ["basic realm=x", "bearer error=y"]),
      ("Negotiate, Bearer error=y", ["negotiate", "bearer error=y"]),
      ("Negotiate YII/abc==, Bearer error=y", ["negotiate", "bearer error=y"]),
      ("NTLM TlRM+g=,Bearer error=y", ["ntlm", "bearer error=y"]),
      (#"bEaReR ERROR = "y""#, ["bearer error=y"]), ("Bearer\terror=y", ["bearer error=y"]),
      (#"Bearer error="a\"b\\c""#, [#"bearer error=a"b\c"#]),
      (#"Bearer error="never ends"#, ["bearer"]), (#"Bearer error="ends\"#, ["bearer"]),
      ("Bearer error=", ["bearer"]), ("Bearer error=y error=z", ["bearer error=y"]),
      ("Bearer error=y, error=z", ["bearer error=y"]), ("error=y", []),
      (#"Bearer, error=y"#, ["bearer error=y"]), ("Bearer error=y; DPoP", ["bearer error=y"]),
      ("Bearer error=ä, x=y", ["bearer"]),
      (
        #"Newauth realm="apps", type=1, title="Login", Basic realm="simple""#,
        ["newauth realm=apps title=Login type=1", "basic realm=simple"]
      ),
    ] as [(String, [String])])
  func challenges(_ field: String, _ expected: [String]) {
    let found = AuthenticationChallenge.all(in: field).map { challenge in
      ([challenge.scheme]
        + challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        .joined(separator: " ")
    }
    #expect(found == expected)
  }

  @Test(
    "STA-9 only a challenge of the token with the code of RFC 9470, or a mapped one, needs the user",
    arguments: [
      (#"Bearer error="insufficient_user_authentication""#, true),
      (#"DPoP error="insufficient_user_authentication""#, true),
      (#"Basic realm="a", Bearer error="insufficient_user_authentication""#, true),
      (#"Bearer error="SHOP_STEP_UP""#, true), (#"Bearer error="invalid_token""#, false),
      (#"Basic error="insufficient_user_authentication""#, false), ("Bearer", false),
    ])
  func demands(_ field: String, _ needsUser: Bool) {
    let found = AuthenticationChallenge.demand(
      in: [("Date", "x"), ("WWW-Authenticate", field)], ["SHOP_STEP_UP": .userNeeded])
    #expect((found != nil) == needsUser)
  }

  private static let challenge = LoopbackFault.challenge(
    #"Bearer error="insufficient_user_authentication", acr_values="urn:a", max_age="300""#)

  @Test(
    "STA-9 LOG-16 a call throws its need without a refresh, and is repeated after the user's answer"
  )
  func stepUp() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let call = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
    bench.server.failNext(.materials, with: Self.challenge, times: 2)
    let refusal = await failure { () async throws(SessionError) in try await session.data(for: call)
    }
    #expect(refusal?.code == .userNeeded)
    #expect(bench.server.count(of: .refresh) == 0)
    let need = try #require(session.userNeeded)
    #expect(need.source == .call && need.reason == .strongerAuthentication && need.tokenStillWorks)
    #expect(need.parameters == ["acr_values": "urn:a", "max_age": "300"])
    #expect(session.status.userNeeded == need)
    bench.clock.advance(by: .seconds(60))
    var asked: [UserNeed] = []
    let (_, response) = try await session.call {
      try await session.data(for: call)
    } askingUser: { need in
      asked.append(need)
      try await session.reauthenticate(.sample)
    }
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(asked == [need] && session.userNeeded == nil && session.isAuthenticated)
    #expect(bench.server.count(of: .refresh) == 0)
    try await session.close()
  }

  @Test(
    "STA-9 errors of the question and of the second call reach the caller, and other errors do not ask"
  )
  func askOnce() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let call = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
    bench.server.failNext(.materials, with: Self.challenge, times: 3)
    await #expect(throws: CancellationError.self) {
      try await session.call {
        try await session.data(for: call)
      } askingUser: { _ in
        throw CancellationError()
      }
    }
    var asked = 0
    let ask = { (_: UserNeed) in asked += 1 }
    let again = await #expect(throws: SessionError.self) {
      try await session.call({ try await session.data(for: call) }, askingUser: ask)
    }
    bench.server.stop()
    let offline = await #expect(throws: SessionError.self) {
      try await session.call({ try await session.data(for: call) }, askingUser: ask)
    }
    #expect(again?.code == .userNeeded && offline?.code == .noConnection && asked == 1)
    try await session.close()
  }
}
