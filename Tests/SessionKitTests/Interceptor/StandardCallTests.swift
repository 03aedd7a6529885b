import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// The meaning of a response to a call by the standard rules, for an app's own backend and an HTTP
/// backend.
@Suite("The standard rules of calls")
struct StandardCallTests {
  private static let codes = [
    nil, "USER_INACTIVE", "USER_DELETED", "ACCOUNT_DELETED", "RATE_LIMITED", "DB_DOWN",
    "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "TOKEN_REUSED", "TOKEN_BLACKLISTED",
    "TOKEN_ODD", "invalid_client", "unauthorized_client", "invalid_grant", "invalid_token",
    "SOMETHING", "OWN_INACTIVE",
  ]

  @Test("INT-2 LOG-6 the standard rules find the same for an app's own backend and an HTTP backend")
  func same() throws {
    let own: [String: ErrorMeaning] = ["OWN_INACTIVE": .userInactive]
    let plain = CallDefaults(codes: own)
    var http = HTTPBackend(baseURL: try #require(URL(string: "https://api.school.test")))
    http.errorCodes = own
    var found: Set<RequestFailure.Kind> = []
    for status in 200...599 {
      for code in Self.codes {
        for form in [
          #"{"error":{"code":"\#(code ?? "")"}}"#, #"{"error":"\#(code ?? "")"}"#, "<p>",
        ] {
          let body = code == nil ? [] : Array(form.utf8)
          let theirs = http.failure(.call, HTTPResponse(status: status, body: body))
          let counts = theirs.map { $0.kind == .rejected || $0.kind.isOfAccount } == true
          let ours =
            plain.tellingStatuses.contains { $0.contains(status) }
            ? plain.failure(CallResponse(status: status, body: body)) : nil
          #expect(ours?.kind == (counts ? theirs?.kind : nil), "\(status) \(form)")
          if let ours {
            found.insert(ours.kind)
            #expect(!ours.kind.isOfAccount || ours.serverCode == theirs?.serverCode)
          }
        }
      }
    }
    #expect(found == [.rejected, .userInactive, .userDeleted])
  }
}
