/// Why an identity token is not accepted: the check that failed, with both values.
///
/// It contains neither the token nor an e-mail address, and of a nonce only the first four characters.
///
/// - Requirement: LOG-18, STO-3
public struct IdentityTokenError: Error, Hashable, Sendable {
  /// A check of an identity token.
  ///
  /// Later versions may add more.
  public struct Check: Hashable, Sendable, CustomStringConvertible {
    /// The name of the claim, such as `aud`, or `token`.
    public let description: String

    private init(_ name: String) { description = name }

    /// The token has three parts with dots between them, and the second is an object.
    public static let form = Check("token")
    /// The issuer.
    public static let issuer = Check("iss")
    /// The clients for which the token was issued.
    public static let audience = Check("aud")
    /// The client to which the token was issued.
    public static let authorizedParty = Check("azp")
    /// The time at which the token expires.
    public static let expiry = Check("exp")
    /// The time at which the token was issued.
    public static let issuedAt = Check("iat")
    /// The value that binds the token to a login.
    public static let nonce = Check("nonce")
    /// The user.
    public static let subject = Check("sub")
  }

  /// The check that failed.
  public let check: Check
  /// What the claim must be.
  public let expected: String
  /// What the claim is; `nil` if it is missing.
  public let found: String?

  /// Creates an error.
  public init(_ check: Check, expected: String, found: String?) {
    (self.check, self.expected, self.found) = (check, expected, found)
  }
}

extension IdentityTokenError: CustomStringConvertible {
  /// One line, such as `aud of the identity token must be notes, and is other`.
  ///
  /// It does not name a user.
  public var description: String {
    let what = check == .form ? "the identity token" : "\(check) of the identity token"
    let isOfUser = check == .subject
    let found = found.map { isOfUser ? "another" : $0 } ?? "missing"
    return "\(what) must be \(isOfUser ? "the user's" : expected), and is \(found)"
  }
}
