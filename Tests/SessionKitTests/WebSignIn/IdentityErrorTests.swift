import Foundation
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Testing

/// What is found in the errors of an identity SDK, at any depth.
@Suite("Nested errors")
struct IdentityErrorTests {
  @Test("WEB-3 each text gives the problem in Specs/WebSignIn.md")
  func texts() {
    let rows = SpecPage("WebSignIn.md").rows(["text", "found"])
    #expect(rows.count >= 12)
    for row in rows where row.count == 2 {
      let found = IdentityError.problem(inText: row[0])
      #expect((found.map { "\($0)" } ?? "nothing") == row[1], "\(row[0])")
      // The same text is found at the bottom of a chain.
      let error = chain(["NSLocalizedDescription": row[0]])
      #expect(IdentityError.problem(in: error) == found, "\(row[0])")
    }
  }

  @Test("WEB-3 LOG-20 each error gives the problem in Specs/WebSignIn.md")
  func errors() throws {
    let rows = SpecPage("WebSignIn.md").rows(["error", "says"])
    let named = Self.named
    #expect(Set(rows.map { $0[0] }) == Set(named.keys))
    for row in rows {
      let found = IdentityError.problem(in: try #require(named[row[0]]))
      #expect((found.map { "\($0)" } ?? "nothing") == row[1], "\(row[0])")
    }
  }

  private static let named: [String: any Error] = [
    "MSALErrorDomain -50005": NSError(domain: "MSALErrorDomain", code: -50_005),
    "MSALErrorDomain -50002": NSError(domain: "MSALErrorDomain", code: -50_002),
    "MSALErrorDomain -50000": NSError(domain: "MSALErrorDomain", code: -50_000),
    "WebAuthenticationSession 1": NSError(
      domain: "com.apple.AuthenticationServices.WebAuthenticationSession", code: 1),
    "URLError, not connected": URLError(.notConnectedToInternet),
    "URLError, timed out": NSError(domain: URLError.errorDomain, code: -1_001),
    "URLError, bad address": URLError(.badURL),
    "CancellationError": CancellationError(),
    "WebSignInProblem": WebSignInProblem.forgottenPassword,
    "BackendError": BackendError(.rateLimited, status: 429, retryAfter: .seconds(30)),
    "an error without words": FakeIdentity.Failed(),
    "an error with a description": Worded(),
    "MSAL's cancellation over B2C's code": NSError(
      domain: "MSALErrorDomain", code: -50_005,
      userInfo: ["MSALErrorDescriptionKey": "AADB2C90118: forgotten"]),
    "a number over a code": NSError(
      domain: "MSALErrorDomain", code: -50_002, userInfo: ["MSALOAuthErrorKey": "invalid_grant"]),
    "-50002 over a code of B2C": NSError(
      domain: "MSALErrorDomain", code: -50_002,
      userInfo: ["MSALErrorDescriptionKey": "AADB2C90080: expired"]),
    "no session in the browser": NSError(
      domain: "x", code: 1, userInfo: ["NSLocalizedDescription": "AADB2C90077: no session"]),
    "interaction_required over a code of B2C": NSError(
      domain: "x", code: 1,
      userInfo: ["error": "interaction_required", "error_description": "AADB2C90999"]),
    "an address that could not be gone to": NSError(
      domain: "WebKitErrorDomain", code: 102, userInfo: ["NSErrorFailingURLKey": forgotten as Any]),
    "its text": NSError(
      domain: "WebKitErrorDomain", code: 102,
      userInfo: ["NSErrorFailingURLStringKey": forgotten?.absoluteString as Any]),
    "a code behind 300 dull texts": NSError(
      domain: "x", code: 1,
      userInfo: dull(300).merging([
        NSUnderlyingErrorKey: NSError(
          domain: "y", code: 2, userInfo: ["MSALErrorDescriptionKey": "AADB2C90118: x"])
      ]) { $1 }),
    "a code over another": NSError(
      domain: "x", code: 1,
      userInfo: [
        "error": "server_error",
        NSUnderlyingErrorKey: NSError(domain: "y", code: 2, userInfo: ["error": "invalid_scope"]),
      ]),
    "no network over a code": NSError(
      domain: "x", code: 1,
      userInfo: [NSUnderlyingErrorKey: URLError(.timedOut), "error": "server_error"]),
    "several underlying": NSError(
      domain: "x", code: 1,
      userInfo: [
        "NSMultipleUnderlyingErrorsKey": [
          NSError(domain: "y", code: 2),
          NSError(domain: "y", code: 3, userInfo: ["error": "invalid_scope"]),
        ]
      ]),
  ]

  private static let forgotten = URL(
    string: "msauth.app://auth?error=access_denied&error_description=%5BAADB2C90118%5D")

  private static func dull(_ count: Int) -> [String: Any] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { ("A\($0)", "dull" as Any) })
  }

  private struct Worded: LocalizedError {
    var errorDescription: String? { #"failed: {"error":"access_denied"}"# }
  }

  private func chain(_ info: [String: Any], depth: Int = 4) -> NSError {
    (0..<depth).reduce(NSError(domain: "bottom", code: 0, userInfo: info)) { error, _ in
      NSError(domain: "x", code: 1, userInfo: [NSUnderlyingErrorKey: error])
    }
  }

  @Test("WEB-3 an error is found up to the depth limit, and not below it")
  func depth() {
    let info = ["error": "access_denied"]
    #expect(
      IdentityError.problem(in: chain(info, depth: 2)) == .refused(IdentityCode("access_denied")))
    // The first chain exceeds the depth limit only. The second one also exceeds the limit of the
    // count.
    #expect(IdentityError.problem(in: chain(info, depth: 20)) == nil)
    #expect(IdentityError.problem(in: chain(info, depth: 200)) == nil)
  }

  /// An error that contains itself.
  private final class Circle: Error, CustomNSError {
    static var errorDomain: String { "circle" }
    var errorCode: Int { 1 }
    var errorUserInfo: [String: Any] {
      [NSUnderlyingErrorKey: self, "again": [self, self, self]]
    }
  }

  @Test("WEB-3 the search ends for an error that contains itself")
  func circle() {
    #expect(IdentityError.problem(in: Circle()) == nil)
    let error = NSError(domain: "x", code: 1, userInfo: ["a": ["b": ["error": "invalid_scope"]]])
    #expect(IdentityError.problem(in: error) == .refused(IdentityCode("invalid_scope")))
  }

  @Test("WEB-3 the search of a huge text ends, and text after the size limit is not read")
  func huge() {
    let braces = String(repeating: "{", count: 200_000)
    #expect(IdentityError.problem(inText: braces) == nil)
    #expect(IdentityError.problem(inText: braces + "AADB2C90118") == nil)
    #expect(
      IdentityError.problem(inText: "AADB2C90118 " + braces) == .forgottenPassword)
    let quotes = String(repeating: "\\\"", count: 40_000)
    #expect(IdentityError.problem(inText: quotes) == nil)
  }

  @Test(
    "WEB-3 the total number of bytes read stays below the limit for any number of texts and layers")
  func bounded() {
    let size = 65_536
    let head = String(repeating: #"{"a":["#, count: 31)
    let tail = String(repeating: "]}", count: 31)
    let late = head + String(repeating: "1,", count: 30_000) + "x" + tail
    var layers = ""
    var count = 1
    while layers.utf8.count < size / 4 {
      layers += String(repeating: #"\"#, count: count) + "\""
      count *= 2
    }
    let quotes = String(repeating: #"\"a "#, count: size / 4)
    let addresses = String(repeating: "a://b?error=%zz ", count: size / 16)
    for text in [late + layers, late, quotes, addresses, String(repeating: "{", count: size)] {
      let info = Dictionary(uniqueKeysWithValues: (0..<256).map { ("k\($0)", text as Any) })
      let read = IdentityError.bytesRead(in: NSError(domain: "x", code: 1, userInfo: info))
      #expect(read > size && read <= IdentityError.mostBytes)
      #expect(IdentityError.problem(inText: text) == nil)
    }
  }

  @Test("STO-3 WEB-3 a text that is no error code is not taken as one")
  func secrets() {
    for text in ["eyJhbGciOiJIUzI1NiJ9.e30.x", "ana@school.test", "The user has left", "a b"] {
      let error = NSError(domain: "x", code: 1, userInfo: ["error": text])
      #expect(IdentityError.problem(in: error) == nil)
    }
  }

  @Test("WEB-3 the search ends for lists that are nested in lists")
  func lists() {
    var value: Any = "nothing"
    for _ in 0..<60 { value = [value, value] }
    let userInfo: [String: Any] = ["a": ["{\"error\":\"access_denied\"}"], "causes": value]
    let error = NSError(domain: "x", code: 1, userInfo: userInfo)
    #expect(IdentityError.problem(in: error) == .refused(IdentityCode("access_denied")))
  }
}
