/// A code of an identity provider that may be shown, logged and journaled.
///
/// It is one of the following:
/// - A registered code: ``RequestFailure/standardCodes``, from OAuth 2.0 and OpenID Connect.
/// - A number of Microsoft's: `AADB2C` and four to six digits, or `AADSTS` and four to seven.
///
/// Any other text is not accepted as a code: a server may repeat a name or a token there.
///
/// - Requirement: STO-3
public struct IdentityCode: Hashable, Sendable, CustomStringConvertible {
  /// The code.
  public let description: String

  /// Creates the code with this text; `nil` if it is not an accepted code.
  public init?(_ text: String) {
    guard RequestFailure.standardCodes.contains(text) || IdentityCode.isNumber(text) else {
      return nil
    }
    description = text
  }

  /// Finds the first number of Microsoft's in a text of any length; `nil` if there is none.
  ///
  /// No letter, digit or `_` may be directly before or after it, except an escape
  /// (`%5BAADB2C90118%5D`).
  public init?(within text: String) {
    self.init(within: Array(text.utf8))
  }

  /// Finds the first number of Microsoft's in the bytes of a text, in one pass.
  package init?(within bytes: [UInt8]) {
    var index = 0
    while index < bytes.count {
      guard let end = IdentityCode.end(ofNumberAt: index, in: bytes) else {
        index += 1
        continue
      }
      if IdentityCode.isFree(before: index, in: bytes),
        end == bytes.count || !IdentityCode.isPart(bytes[end])
      {
        description = String(decoding: bytes[index..<end], as: UTF8.self)
        return
      }
      index = end
    }
    return nil
  }

  /// Whether it is a number of Microsoft's, not a registered code.
  public var isNumber: Bool { IdentityCode.isNumber(description) }

  package static func isNumber(_ text: String) -> Bool {
    let bytes = Array(text.utf8.prefix(16))
    return end(ofNumberAt: 0, in: bytes) == text.utf8.count
  }

  private static let b2c = Array("AADB2C".utf8)
  private static let sts = Array("AADSTS".utf8)

  /// Returns the end of the number that begins at `start`; `nil` if none does.
  private static func end(ofNumberAt start: Int, in bytes: [UInt8]) -> Int? {
    guard start + 10 <= bytes.count, bytes[start] == UInt8(ascii: "A") else { return nil }
    let letters = bytes[start..<start + 6]
    let isOfB2C = letters.elementsEqual(b2c)
    guard isOfB2C || letters.elementsEqual(sts) else { return nil }
    var end = start + 6
    while end < bytes.count, isDigit(bytes[end]) { end += 1 }
    return (4...(isOfB2C ? 6 : 7)).contains(end - start - 6) ? end : nil
  }

  /// Whether no letter, digit or `_` is before the index, or an escape ends there.
  private static func isFree(before index: Int, in bytes: [UInt8]) -> Bool {
    guard index > 0, isPart(bytes[index - 1]) else { return true }
    guard index > 2, bytes[index - 3] == UInt8(ascii: "%") else { return false }
    return bytes[index - 2..<index].allSatisfy { isDigit($0) || isHexLetter($0) }
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "_"):
      true
    default: isDigit(byte)
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isHexLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}

/// Why a sign-in with an identity provider failed.
///
/// It may hold a code, an issuer identifier or claims of an identity token, but no other text of a
/// server.
///
/// - Requirement: WEB-4
public enum WebSignInProblem: Error, Hashable, Sendable {
  /// The user left the page.
  case cancelledByUser
  /// The user has forgotten the password: the app shows the page that sets a new one.
  case forgottenPassword
  /// The provider has no user to sign in without a user interface.
  case noAccount
  /// The provider rejected the sign-in; the code is `nil` if there is none that may be shown.
  case refused(IdentityCode?)
  /// The provider could not be reached.
  case unreachable
  /// The app could not create or show its view.
  case viewFailed
  /// The provider's response has no token, or does not say who the user is.
  case unreadableTokens
  /// The calling task was cancelled.
  case cancelled
  /// The request for tokens failed, such as the exchange of an authorization code.
  ///
  /// The login throws the error that a login with a password would throw. The text says what
  /// happened, without a secret.
  case requestFailed(RequestFailure, detail: String?)
  /// The redirect belongs to the login, but names another issuer than the app expects (RFC 9207).
  ///
  /// `found` is `nil` if the redirect names none, or a text that is no HTTPS address.
  case otherIssuer(expected: String, found: String?)
  /// The identity token of the login did not pass a check, and its tokens are revoked.
  case identityToken(IdentityTokenError)
  /// No redirect reached the app within this time.
  case noRedirect(within: Duration)
  /// No page can be shown on this machine; the text says why, and what to do.
  case noPage(String)

  /// Azure AD B2C's code if the user left the page.
  public static let cancellationCode = "AADB2C90091"
  /// Azure AD B2C's code if the user has forgotten the password.
  public static let forgottenPasswordCode = "AADB2C90118"

  /// Azure AD B2C's code if no user is signed in and the page may not ask.
  public static let noSessionCode = "AADB2C90077"

  /// Creates the problem for a provider's code.
  public init(_ code: IdentityCode?) {
    switch code?.description {
    case Self.cancellationCode: self = .cancelledByUser
    case Self.forgottenPasswordCode: self = .forgottenPassword
    case Self.noSessionCode, "interaction_required", "login_required": self = .noAccount
    default: self = .refused(code)
    }
  }

  /// Returns the problem to report: `seen` by the observer, else `found` in the error, else a
  /// rejection.
  ///
  /// A `seen` rejection without a code is less precise than `found`, so `found` wins then.
  ///
  /// - Requirement: WEB-4
  public static func reported(
    seen: WebSignInProblem?, found: WebSignInProblem?
  ) -> WebSignInProblem {
    guard let seen, seen != .refused(nil) else { return found ?? .refused(nil) }
    return seen
  }

  /// Whether it is no error: the sign-in was stopped, or there was no user to sign in.
  public var isQuiet: Bool {
    switch self {
    case .cancelledByUser, .forgottenPassword, .noAccount, .cancelled: true
    case .refused, .unreachable, .viewFailed, .unreadableTokens, .requestFailed, .otherIssuer,
      .identityToken, .noRedirect, .noPage:
      false
    }
  }
}

extension WebSignInProblem: CustomStringConvertible {
  /// The name, with the code if there is one: `refused AADB2C90080`.
  public var description: String {
    switch self {
    case .cancelledByUser: "cancelledByUser"
    case .forgottenPassword: "forgottenPassword"
    case .noAccount: "noAccount"
    case .refused(let code): code.map { "refused \($0)" } ?? "refused"
    case .unreachable: "unreachable"
    case .viewFailed: "viewFailed"
    case .unreadableTokens: "unreadableTokens"
    case .cancelled: "cancelled"
    case .requestFailed(let failure, _): "requestFailed \(failure)"
    case .otherIssuer: "otherIssuer"
    case .identityToken(let error): "identityToken \(error.check)"
    case .noRedirect: "noRedirect"
    case .noPage: "noPage"
    }
  }
}

/// The part of a server's text that an error may show.
///
/// - Requirement: STO-3
package enum ShownText {
  /// Returns the text; `nil` if it may be a secret or an e-mail address.
  ///
  /// Identifiers of issuers, clients and users are visible ASCII, and short. A signed token begins
  /// with an encoded brace.
  package static func of(_ text: String) -> String? {
    let isShort = text.utf8.count <= 200 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isShort && !text.contains("@") && !text.hasPrefix("eyJ") ? text : nil
  }
}
