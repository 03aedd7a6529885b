/// What a server asks of the user before it renews the session, or before it takes a call.
///
/// Let the user authenticate again with `Session.reauthenticate(_:)`, or log in once the session has
/// expired. ``parameters`` are for the authorization request.
///
/// - Requirement: STA-9
public struct UserNeed: Hashable, Sendable {
  /// What the server refused without the user.
  public enum Source: Hashable, Sendable {
    /// A refresh: the access token works until it expires.
    case refresh
    /// A call: others may go on with the same token.
    case call
  }

  /// What the server refused without the user.
  public let source: Source
  /// Why the user is needed, as far as the server says.
  public let reason: Reason
  /// The server's error code, such as `interaction_required`; `nil` if it has none that is kept.
  public let serverCode: String?
  /// The classes of authentication that satisfy the server, the preferred one first.
  ///
  /// They are the `acr_values` of RFC 9470 §3; empty if it names none.
  public let acrValues: [String]
  /// How long ago the user may have authenticated at most; `nil` for no limit.
  public let maxAge: Duration?
  /// The scope that the call needs; empty if the server names none.
  public let scopes: [String]
  /// When the server said so first, in civil time of the device.
  public let since: Timestamp
  /// Whether the access token had not expired when this value was made.
  public let tokenStillWorks: Bool

  /// Creates a need from its note.
  package init(_ need: OpenNeed, tokenStillWorks: Bool) {
    let needed = need.needed
    (source, since) = (needed.isOfCall ? .call : .refresh, need.since)
    (reason, serverCode) = (Reason(needed.failure), needed.failure.serverCode)
    acrValues = needed.demand?.values(of: "acr") ?? []
    maxAge = needed.demand?.values(of: "max_age").first.flatMap { Int64($0) }.map { .seconds($0) }
    scopes = needed.demand?.values(of: "scope") ?? []
    self.tokenStillWorks = tokenStillWorks
  }

  /// The parameters of an authorization request that asks the user for this (RFC 9470 §4).
  ///
  /// They are `acr_values`, `max_age` and `scope`, each only if the server named it. The `scope` is
  /// that of the call alone. `AuthorizationCode.further` adds it to the usual one.
  public var parameters: [String: String] {
    var parameters: [String: String] = [:]
    if !acrValues.isEmpty { parameters["acr_values"] = acrValues.joined(separator: " ") }
    if let maxAge { parameters["max_age"] = "\(maxAge.components.seconds)" }
    if !scopes.isEmpty { parameters["scope"] = scopes.joined(separator: " ") }
    return parameters
  }
}

extension UserNeed {
  /// Why a server needs the user.
  ///
  /// Later versions may add more.
  public struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// The name of the reason.
    public let description: String

    /// The server does not say more than that the user must take part.
    public static let interaction = Reason(description: "interaction")
    /// The last authentication is too long ago, or is not valid any more.
    public static let login = Reason(description: "login")
    /// A further factor, or another class of authentication.
    public static let strongerAuthentication = Reason(description: "strongerAuthentication")
    /// The user must allow something.
    public static let consent = Reason(description: "consent")
    /// The server has refused to refresh an expired token more than once, and does not say why.
    public static let refused = Reason(description: "refused")
  }
}

extension UserNeed.Reason {
  fileprivate init(_ failure: RequestFailure) {
    guard failure.kind == .userNeeded else {
      self = .refused
      return
    }
    // OpenID Connect Core §3.1.2.6, RFC 9470 §3; numbers of Entra for a consent, for a sign-in that is
    // too old and for a second factor. Other codes say only that a user is needed.
    switch failure.serverCode {
    case "login_required", "LOGIN_REQUIRED", "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "AADSTS50078",
      "AADSTS70043", "AADSTS70044":
      self = .login
    case "insufficient_user_authentication", "MFA_REQUIRED", "TWO_FACTOR_REQUIRED",
      "SECOND_FACTOR_REQUIRED", "OTP_REQUIRED", "STEP_UP_REQUIRED", "insufficient_aal",
      "AADSTS50074", "AADSTS50076", "AADSTS50079":
      self = .strongerAuthentication
    case "consent_required", "CONSENT_REQUIRED", "AADSTS65001": self = .consent
    default: self = .interaction
    }
  }
}

/// What a server asked for in a challenge, as words: `max_age=300 acr=urn:example:loa2`.
///
/// It has 1 to 400 characters, and single spaces between the words `max_age=`, `acr=` and `scope=`. A
/// server's name is taken only if it does not look like a token, an address or the number of a person.
///
/// - Requirement: STO-3
@_spi(Internals) public struct AuthenticationDemand: Hashable, Sendable, CustomStringConvertible {
  /// The words, with spaces between them.
  public let description: String

  /// Creates a demand from words; `nil` if they may not be journaled.
  public init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard (1...400).contains(text.utf8.count), words.allSatisfy(Self.isShown) else { return nil }
    description = text
  }

  /// Creates a demand from the parameters of a challenge (RFC 9470 §3); `nil` if it names nothing.
  ///
  /// What may not be journaled is left out.
  package init?(acrValues: String?, maxAge: String?, scope: String?) {
    var words = maxAge.flatMap { UInt32($0) }.map { ["max_age=\($0)"] } ?? []
    for (key, names) in [("acr", acrValues), ("scope", scope)] {
      words += (names ?? "").split(separator: " ").map { "\(key)=\($0)" }
    }
    self.init(fitting: words)
  }

  /// Creates a demand from the words that may be journaled, as far as they fit.
  private init?(fitting words: [String]) {
    var text = ""
    for word in words where AuthenticationDemand(word) != nil {
      if text.utf8.count + word.utf8.count < 400 { text += text.isEmpty ? word : " " + word }
    }
    self.init(text)
  }

  /// Returns the demand with other names of classes and scopes; those that do not fit are left out.
  package func renamed(_ rename: (String) -> String) -> AuthenticationDemand? {
    AuthenticationDemand(
      fitting: description.split(separator: " ").map { word in
        let parts = word.split(separator: "=")
        return parts[0] == "max_age" ? String(word) : "\(parts[0])=\(rename(String(parts[1])))"
      })
  }

  private static func isShown(_ word: Substring) -> Bool {
    let parts = word.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return false }
    switch parts[0] {
    case "max_age": return UInt32(parts[1]).map { "\($0)" == parts[1] } == true
    case "acr", "scope": return isName(parts[1])
    default: return false
    }
  }

  // A token is longer without a separator. A phone number or a network address has more digits.
  private static func isName(_ text: Substring) -> Bool {
    var (length, digits) = (0, 0)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): (length, digits) = (length + 1, digits + 1)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
        (length, digits) = (length + 1, 0)
      case UInt8(ascii: "-"), UInt8(ascii: "_"): length += 1
      case UInt8(ascii: "."): length = 0
      case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "#"), UInt8(ascii: "*"):
        (length, digits) = (0, 0)
      default: return false
      }
      if length == 32 || digits == 7 { return false }
    }
    return (1...200).contains(text.utf8.count) && !text.contains("eyJ")
  }

  fileprivate func values(of key: String) -> [String] {
    description.split(separator: " ").compactMap { word in
      word.hasPrefix("\(key)=") ? String(word.dropFirst(key.utf8.count + 1)) : nil
    }
  }
}

/// A need that is open, with its time.
@_spi(Internals) public struct OpenNeed: Hashable, Sendable {
  /// The payload of its note.
  public let needed: SessionNote.UserNeeded
  /// The time of its note.
  public let since: Timestamp

  /// Creates an open need.
  package init(_ needed: SessionNote.UserNeeded, since: Timestamp) {
    (self.needed, self.since) = (needed, since)
  }

  /// Whether it makes another one of the same token superfluous.
  ///
  /// A call's need replaces none: calls can differ in what they need without end, and each throws its
  /// own. Without the user, a refresh ends the session.
  func covers(_ other: SessionNote.UserNeeded) -> Bool {
    other.isOfCall || !needed.isOfCall && needed.failure.isAlike(other.failure)
  }
}
