package import Foundation
@_spi(Internals) package import SessionCore

/// The defaults of a backend for the app's calls.
package struct CallDefaults: Sendable {
  /// An endpoint that the session itself uses.
  package struct Endpoint: Sendable {
    package let method: String
    package let url: URL
    /// Whether an app's own call to the endpoint is sent unchanged.
    ///
    /// - Requirement: INT-3
    package let isLeftAlone: Bool

    package init(method: String, url: URL, isLeftAlone: Bool) {
      (self.method, self.url, self.isLeftAlone) = (method, url, isLeftAlone)
    }
  }

  /// The address to whose origin the token belongs; `nil` if the rules name all origins.
  let baseURL: URL?
  let endpoints: [Endpoint]
  /// The places of the access token in the requests of the backend itself.
  let tokenPlaces: [CallTokenPlace]
  /// The statuses whose responses may concern the token or the user's account.
  let tellingStatuses: [ClosedRange<Int>]
  /// Returns the failure of the token or the account that a response states; `nil` for a success.
  ///
  /// A failure of another kind is left to the caller.
  let failure: @Sendable (CallResponse) -> RequestFailure?

  package init(
    baseURL: URL, endpoints: [Endpoint], tokenPlaces: [CallTokenPlace],
    tellingStatuses: [ClosedRange<Int>],
    failure: @escaping @Sendable (CallResponse) -> RequestFailure?
  ) {
    (self.baseURL, self.endpoints, self.tokenPlaces) = (baseURL, endpoints, tokenPlaces)
    (self.tellingStatuses, self.failure) = (tellingStatuses, failure)
  }

  /// Creates the defaults of a backend that defines only the meanings of its own codes.
  init(codes: [String: ErrorMeaning]) {
    (baseURL, endpoints, tokenPlaces, tellingStatuses) = (nil, [], [], [400...499])
    failure = { CallDefaults.failure($0, codes) }
  }

  /// Returns the failure that a response states by the standard rules; `nil` if it is left to the
  /// caller.
  ///
  /// `Specs/Answers.md` lists the rules. The code is that of `error.code`, or else of `error`.
  private static func failure(
    _ response: CallResponse, _ codes: [String: ErrorMeaning]
  ) -> RequestFailure? {
    // Other statuses do not concern the token, even if they have a code.
    guard (400...499).contains(response.status), ![407, 429].contains(response.status) else {
      return nil
    }
    let code = code(in: response.body)
    let meaning = code.flatMap { codes[$0] ?? ErrorMeaning(ofCall: $0) }
    guard let kind = kind(response.status, code, meaning) else { return nil }
    return RequestFailure(
      kind: kind, status: UInt16(clamping: response.status),
      recordedCode: code.flatMap { RequestFailure.kept($0, isNamed: codes[$0] != nil) },
      retryAfter: nil)
  }

  private static func kind(
    _ status: Int, _ code: String?, _ meaning: ErrorMeaning?
  ) -> RequestFailure.Kind? {
    switch meaning {
    case .userInactive: return .userInactive
    case .userDeleted: return .userDeleted
    case .userNeeded: return .userNeeded
    default: break
    }
    if let code, code == "RATE_LIMITED" || code.hasPrefix("DB_") { return nil }
    if status == 403, let code, ofToken.contains(code) { return .rejected }
    if meaning == .clientRefused { return nil }
    return status == 401 || status == 400 && code == "invalid_grant" ? .rejected : nil
  }

  /// The codes that concern the session's own token with status 403.
  ///
  /// A call may also be about other tokens.
  private static let ofToken: Set<String> = [
    "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "TOKEN_REUSED", "TOKEN_BLACKLISTED",
  ]

  private static func code(in body: [UInt8]) -> String? {
    let members: JSONMembers
    do throws(Unreadable) { members = try JSONMembers(body: body) } catch { return nil }
    for steps in [["error", "code"], ["error"]] {
      do throws(Unreadable) {
        if let code = try members.textOrInteger(at: steps) { return code }
      } catch {
        // A code that cannot be read counts as missing.
        continue
      }
    }
    return nil
  }
}

extension ErrorMeaning {
  /// Creates the meaning of a code in the body of a call's response.
  ///
  /// `LOGIN_REQUIRED` often says only that the token has expired. So that a call needs the user is known by
  /// a challenge (RFC 9470), or by the app's configuration.
  package init?(ofCall code: String) {
    guard let meaning = ErrorMeaning(code: code), meaning != .userNeeded else { return nil }
    self = meaning
  }
}

/// The response to a call, from which the server's code is read.
package struct CallResponse: Sendable {
  package let status: Int
  /// The header fields.
  package let fields: [(name: String, value: String)]
  /// The body, or its beginning.
  package let body: [UInt8]

  package init(status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }

  /// Returns the first value of the field with this name, which is in lower case.
  func value(of name: String) -> String? {
    fields.first { $0.name.lowercased() == name }?.value
  }
}
