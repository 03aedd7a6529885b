import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Descriptions without secrets")
struct NetworkLeakTests {
  /// One word in every place that can hold a secret, an e-mail address or a text of the server.
  static let canary = "Canary7Zx"

  private func isShown(_ value: Any) -> Bool {
    var dumped = ""
    dump(value, to: &dumped)
    let texts = [
      "\(value)", String(describing: value), String(reflecting: value), dumped,
      "\(Mirror(reflecting: value).children.map { "\($0.label ?? "") \($0.value)" })",
    ]
    return texts.contains { $0.contains(Self.canary) }
  }

  @Test("the search finds a secret that is shown")
  func control() {
    struct Bare { let text = NetworkLeakTests.canary }
    #expect(isShown(Bare()) && isShown([Bare()]) && isShown(Optional(Bare()) as Any))
  }

  @Test(
    "STO-3 no description of requests, responses, credentials, claims or backends shows a secret")
  func values() throws {
    let canary = Self.canary
    let address = try #require(
      URL(string: "https://u:\(canary)@school.test/a?q=\(canary)#\(canary)"))
    let header = HTTPHeader("Authorization", "Bearer \(canary)")
    var wire = HTTPBackend.snakeCaseJSON(address)
    wire.headers = [header]
    wire.login?.fields = ["client_secret": .text(canary)]
    wire.login?.headers = [HTTPHeader("X-Key", canary)]
    wire.client = .basic(id: canary, secret: Secret(canary))
    let login = try #require(wire.login)
    let token = LoopbackToken.make(claims: [
      "sub": .string(canary), "email": .string(canary), "iss": .string(canary),
    ])
    let credentials = Credential.password(canary, canary)
    let profile = UserProfile(id: "u", email: canary, firstName: canary, lastName: canary)
    let values: [Any] = [
      header, wire, credentials, try #require(wire.loginRequest(credentials)),
      try #require(wire.refresh(Secret(canary))), login, wire.client, RequestField.text(canary),
      ClientAuthentication.form(id: canary, secret: Secret(canary)),
      BackendError(.refused, serverCode: canary), Credential.password(canary, canary),
      RefreshToken(Secret(canary)), ProfileResponse(user: profile),
      RevocableTokens(access: Secret(canary), refresh: RefreshToken(Secret(canary))),
      try #require(UserNameKey(Array(canary.utf8) + Array(repeating: 0, count: 7))),
      try #require(wire.revoke(access: Secret(canary), refresh: Secret(canary))),
      HTTPRequest(
        method: "POST", url: address, headers: [header], body: Array(canary.utf8)),
      HTTPResponse(status: 200, headers: [header], body: Array(canary.utf8)),
      try TokenClaims(Secret(token)),
      TokenResponse(
        access: Secret(canary), refresh: Secret(canary), lifetime: 1, user: profile),
    ]
    for value in values {
      #expect(!isShown(value), "\(type(of: value))")
      #expect(!isShown([value]), "\(type(of: value))")
      #expect(!isShown(Optional(value) as Any), "\(type(of: value))")
    }
    #expect("\(try #require(wire.loginRequest(credentials)))" == "POST /a/auth/login")
  }

  @Test("STO-3 no error of a response shows a secret, wherever the response holds it")
  func errors() {
    let canary = "\"\(Self.canary)\""
    var bodies = ["\(canary)", "[\(canary)]", "{\(canary)", "{\(canary):1}", "\(Self.canary)"]
    for place in BackendBench.Place.allCases {
      for key in place.members.keys {
        for value in [canary, "[\(canary)]", "{\(canary):\(canary)}", "{\"id\":[\(canary)]}"] {
          bodies.append(BackendBench.object(place.members.merging([key: value]) { $1 }))
        }
      }
    }
    bodies.append(#"{"error":{"code":\#(canary),"message":\#(canary)}}"#)
    bodies.append(#"{"error":\#(canary),"error_description":\#(canary)}"#)
    for body in bodies {
      for status in [200, 302, 400, 401, 429, 500] {
        for place in BackendBench.Place.allCases {
          let headers = [HTTPHeader("Retry-After", Self.canary), HTTPHeader("Date", Self.canary)]
          guard let failure = place.failure(status: status, headers: headers, body) else {
            continue
          }
          #expect(!isShown(failure))
        }
      }
    }
  }

  @Test("STO-3 no error of claims shows a secret")
  func claims() {
    for text in [Self.canary, "a.\(Self.canary)!.c", "a.\(Self.canary).c"] {
      do throws(TokenClaims.Problem) {
        _ = try TokenClaims(Secret(text))
        Issue.record("it was read")
      } catch {
        #expect(!isShown(error))
      }
    }
  }

  @Test("STO-3 no error of the transport shows a secret")
  func transport() async throws {
    let server = try LoopbackServer.start()
    server.stop()
    let address = try #require(
      URL(string: "http://u:\(Self.canary)@127.0.0.1:\(server.port)/a?q=\(Self.canary)"))
    let far = try #require(URL(string: "http://u:\(Self.canary)@school.test/?q=\(Self.canary)"))
    for url in [address, far] {
      do throws(TransportError) {
        _ = try await URLSessionTransport().send(
          HTTPRequest(method: "POST", url: url, body: Array(Self.canary.utf8)))
        Issue.record("there was an answer")
      } catch {
        #expect(!isShown(error))
      }
    }
  }
}
