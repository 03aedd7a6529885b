import Foundation
import SessionKit
import SessionTestKit
import Testing

/// What is found in the errors of an identity SDK, however deep.
@Suite("Nested errors")
struct IdentityErrorTests {
  @Test("WEB-3 Specs/WebSignIn.md: what each text says")
  func texts() {
    let rows = WebSignInPage.rows(["text", "found"])
    #expect(rows.count >= 12)
    for row in rows where row.count == 2 {
      let found = IdentityError.problem(inText: row[0])
      #expect((found.map { "\($0)" } ?? "nothing") == row[1], "\(row[0])")
      // The same at the bottom of a chain.
      let error = chain(["NSLocalizedDescription": row[0]])
      #expect(IdentityError.problem(in: error) == found, "\(row[0])")
    }
  }

  @Test("WEB-3 Specs/WebSignIn.md: what each error says")
  func errors() throws {
    let rows = WebSignInPage.rows(["error", "says"])
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
    "an error without words": FakeIdentity.Failed(),
    "an error with a description": Worded(),
    "MSAL's cancellation over B2C's code": NSError(
      domain: "MSALErrorDomain", code: -50_005,
      userInfo: ["MSALErrorDescriptionKey": "AADB2C90118: forgotten"]),
    "a number over a code": NSError(
      domain: "MSALErrorDomain", code: -50_002, userInfo: ["MSALOAuthErrorKey": "invalid_grant"]),
    "a code over another": NSError(
      domain: "x", code: 1,
      userInfo: [
        "error": "E_OUTER",
        NSUnderlyingErrorKey: NSError(domain: "y", code: 2, userInfo: ["error": "E_INNER"]),
      ]),
    "no network over a code": NSError(
      domain: "x", code: 1,
      userInfo: [NSUnderlyingErrorKey: URLError(.timedOut), "error": "server_error"]),
    "several underlying": NSError(
      domain: "x", code: 1,
      userInfo: [
        "NSMultipleUnderlyingErrorsKey": [
          NSError(domain: "y", code: 2),
          NSError(domain: "y", code: 3, userInfo: ["error": "E_TWO"]),
        ]
      ]),
  ]

  private struct Worded: LocalizedError {
    var errorDescription: String? { #"failed: {"error":"access_denied"}"# }
  }

  private func chain(_ info: [String: Any], depth: Int = 4) -> NSError {
    (0..<depth).reduce(NSError(domain: "bottom", code: 0, userInfo: info)) { error, _ in
      NSError(domain: "x", code: 1, userInfo: [NSUnderlyingErrorKey: error])
    }
  }

  @Test("WEB-3 what is deeper than the bound is not looked at, and what is not, is")
  func depth() {
    let info = ["error": "access_denied"]
    #expect(
      IdentityError.problem(in: chain(info, depth: 2)) == .refused(IdentityCode("access_denied")))
    // The first is too deep, and not yet too many; the second is both.
    #expect(IdentityError.problem(in: chain(info, depth: 40)) == nil)
    #expect(IdentityError.problem(in: chain(info, depth: 200)) == nil)
  }

  /// An error that lies under itself.
  private final class Circle: Error, CustomNSError {
    static var errorDomain: String { "circle" }
    var errorCode: Int { 1 }
    var errorUserInfo: [String: Any] {
      [NSUnderlyingErrorKey: self, "again": [self, self, self]]
    }
  }

  @Test("WEB-3 an error that holds itself, and ever more of itself, ends")
  func circle() {
    #expect(IdentityError.problem(in: Circle()) == nil)
    let error = NSError(domain: "x", code: 1, userInfo: ["a": ["b": ["error": "E_IN"]]])
    #expect(IdentityError.problem(in: error) == .refused(IdentityCode("E_IN")))
  }

  @Test("WEB-3 texts of any size end, and what is beyond the bound is not read")
  func huge() {
    let braces = String(repeating: "{", count: 200_000)
    #expect(IdentityError.problem(inText: braces) == nil)
    #expect(IdentityError.problem(inText: braces + "AADB2C90118") == nil)
    #expect(
      IdentityError.problem(inText: "AADB2C90118 " + braces) == .forgottenPassword)
    let quotes = String(repeating: "\\\"", count: 40_000)
    #expect(IdentityError.problem(inText: quotes) == nil)
  }

  @Test("STO-3 WEB-3 a text that stands where a code belongs is not told")
  func secrets() {
    for text in ["eyJhbGciOiJIUzI1NiJ9.e30.x", "ana@school.test", "The user has left", "a b"] {
      let error = NSError(domain: "x", code: 1, userInfo: ["error": text])
      #expect(IdentityError.problem(in: error) == nil)
    }
  }
}
