import Foundation
import SessionHTTP
import SessionKit

/// An error as an identity SDK throws it: MSAL's domain and codes, with the server's text in its
/// user info.
struct IdentitySDKError: Error, CustomNSError {
  static let errorDomain = "MSALErrorDomain"
  let errorCode: Int
  var errorUserInfo: [String: Any] {

    var all: [String: Any] = info
    all[NSUnderlyingErrorKey] = under
    return all

  }
  private var info: [String: String] = [:]
  private var under: URLError?

  private init(_ code: Int, _ info: [String: String] = [:], under: URLError? = nil) {
    (errorCode, self.info, self.under) = (code, info, under)
  }

  /// The user left the page, or the provider answered `access_denied`.
  static let cancelled = IdentitySDKError(-50_005)
  /// The user cannot be signed in without a page.
  static let interactionRequired = IdentitySDKError(-50_002)

  static func internalProblem(_ text: String) -> IdentitySDKError {
    IdentitySDKError(-50_000, ["MSALErrorDescriptionKey": text])
  }

  /// Returns the error for an error in a redirect.
  static func refused(_ error: String, description: String?) -> IdentitySDKError {
    switch error {
    case "access_denied": cancelled
    case "interaction_required", "login_required":
      IdentitySDKError(-50_002, ["MSALOAuthErrorKey": error])
    default:
      IdentitySDKError(
        -50_000, ["MSALOAuthErrorKey": error, "MSALErrorDescriptionKey": description ?? ""])
    }
  }

  /// Returns the error for a failed token request, with the text of the answer.
  static func answered(_ answer: HTTPResponse) -> IdentitySDKError {
    IdentitySDKError(
      -50_000, ["MSALErrorDescriptionKey": String(decoding: answer.body, as: UTF8.self)])
  }

  static func unreached(_ error: TransportError) -> IdentitySDKError {
    switch error {
    case .noConnection, .notTrusted, .badAddress, .insecure:
      IdentitySDKError(-50_000, under: URLError(.notConnectedToInternet))
    case .noReply, .cancelled: IdentitySDKError(-50_000, under: URLError(.timedOut))
    }
  }

  /// Whether the server no longer accepts the refresh token.
  var isDeadGrant: Bool {
    info["MSALErrorDescriptionKey"]?.contains("invalid_grant") ?? false
  }
}
