import Foundation
import SessionKit
import Testing

// What an app does with errors, using only the public part of the library.

private func told(_ error: SessionError) -> String {
  switch error.code {
  case .invalidCredentials, .invalidInput: "mark the fields"
  case .rateLimited: "wait \(error.retryAfter ?? .zero)"
  case .pendingChanges: "\(error.pendingChanges ?? 0) changes wait"
  case .expired, .loggedOut:
    switch error.reason {
    case .expired(.inactivity): "it was not used"
    default: "log in again"
    }
  case .refused where error.status == 403: "not allowed"
  case .storage where error.underlyingError is SecretStoreError: "the keychain"
  default: error.localizedDescription
  }
}

@Suite("An app reads errors")
struct ErrorExampleTests {
  @Test(
    "LOG-3 LOG-13 OUT-3 an app switches over codes, and its tests create errors themselves",
    arguments: [
      (SessionError(.invalidCredentials), "mark the fields"),
      (SessionError(.rateLimited, status: 429, retryAfter: .seconds(30)), "wait 30.0 seconds"),
      (SessionError(.pendingChanges, pendingChanges: 3), "3 changes wait"),
      (SessionError(.expired, reason: .expired(.inactivity)), "it was not used"),
      (SessionError(.loggedOut), "log in again"),
      (SessionError(.refused, status: 403), "not allowed"),
    ])
  func codes(error: SessionError, expected: String) {
    #expect(told(error) == expected)
  }

  @Test("LOG-8 an error has a text for the user and another one for the developer")
  func words() {
    let error: any Error = SessionError(.serverFailure, status: 503, serverCode: "DOWN")
    #expect(!error.localizedDescription.contains("503"))
    #expect("\(error)".contains("503 DOWN"))
    #expect((error as? SessionError)?.advice == .wait(nil))
  }

  @Test("LOG-13 errors of one code, status and reason are equal")
  func equality() {
    #expect(SessionError(.refused, status: 404) == SessionError(.refused, status: 404))
    #expect(SessionError(.refused, status: 404) != SessionError(.refused, status: 403))
    #expect(SessionError(.expired, reason: .expired(.inactivity)) != SessionError(.expired))
  }
}
