@_spi(Internals) public import SessionCore

/// A rule that gives a response its meaning.
///
/// The first rule of a backend that matches counts.
///
/// If no rule matches, a response with a 2xx status is a success, and every other response is
/// `unexpected`.
///
/// - At a refresh, `rejected`, `userInactive` and `userDeleted` end the session.
/// - At a refresh or a protected call, `userNeeded` means that only the user can help.
/// - At a protected call, `rejected` means that the access token is not valid any more.
/// - At a protected call, `unexpected` is left to the caller, such as a 403 that does not concern
///   the token.
///
/// - Requirement: LOG-7, REF-6
public struct FailureRule: Hashable, Sendable {
  /// The form of a response's body.
  public enum Body: Hashable, Sendable {
    /// Empty, or only white space.
    case empty
    /// HTML or XML: the first character is `<`.
    case page
    /// A body that `Content-Type` calls HTML, and that is neither empty nor JSON.
    case html
    /// A body without a code that is kept and without the backend's own form of an error.
    ///
    /// That form is an object with the first member of a path of ``ResponseMapping/errorCode``. A
    /// line of text, an object of a firewall and an empty body do not have it.
    case foreign
    /// Any body without a code that is kept, including an empty one.
    case uncoded
  }

  /// The meaning of a response that matches.
  public var meaning: RequestFailure.Kind
  /// The steps to which the rule applies; `nil` for all.
  public var steps: Set<HTTPBackend.Step>?
  /// The statuses to which the rule applies; 100 to 599 for all.
  public var statuses: ClosedRange<Int>
  /// The server's codes, one of which the response must have.
  ///
  /// `TOKEN_*` matches all codes with that prefix. If the list is empty, the rule does not require
  /// a code.
  public var codes: [String]
  /// Meanings of the server's code that match too, in addition to ``codes``.
  ///
  /// The meanings are those of ``HTTPBackend/errorCodes`` and of codes that are known for every
  /// backend.
  ///
  /// - Requirement: POL-8
  public var meanings: Set<ErrorMeaning>
  /// The required form of the body; `nil` for any.
  public var body: Body?

  /// Creates a rule for a range of statuses.
  public init(
    _ meaning: RequestFailure.Kind, at steps: Set<HTTPBackend.Step>? = nil,
    statuses: ClosedRange<Int> = 100...599, codes: [String] = [],
    meanings: Set<ErrorMeaning> = [], body: Body? = nil
  ) {
    self.meaning = meaning
    self.meanings = meanings
    self.steps = steps
    self.statuses = statuses
    self.codes = codes
    self.body = body
  }

  /// Creates a rule for one status.
  public init(
    _ meaning: RequestFailure.Kind, at steps: Set<HTTPBackend.Step>? = nil, status: Int,
    codes: [String] = [], meanings: Set<ErrorMeaning> = [], body: Body? = nil
  ) {
    self.init(
      meaning, at: steps, statuses: status...status, codes: codes, meanings: meanings, body: body)
  }

  /// Whether the rule requires a code.
  var wantsCode: Bool { !codes.isEmpty || !meanings.isEmpty }

  /// Returns whether the rule applies to a response; the caller has looked at its step and its status.
  func matches(_ signs: AnswerSigns) -> Bool {
    if let body, !signs.looksLike(body) { return false }
    guard wantsCode else { return true }
    guard let code = signs.code else { return false }
    if let meaning = signs.meaning, meanings.contains(meaning) { return true }
    return codes.contains { FailureRule.matches(code, $0) }
  }

  static func matches(_ code: String, _ pattern: String) -> Bool {
    pattern.hasSuffix("*") ? code.hasPrefix(pattern.dropLast()) : code == pattern
  }
}

extension FailureRule {
  /// All requests of the session itself.
  private static let tokenSteps = Set(HTTPBackend.Step.allCases).subtracting([.call])

  /// The codes of OAuth 2.0 and DPoP.
  ///
  /// Servers send them with 400, 401 and 403. A code that asks for a repetition must not end a
  /// session at any of these.
  ///
  /// - Requirement: REF-19
  private static let standardCodes: [FailureRule] = [
    // Beside `invalid_grant` or with 401, only the user can renew the session (STA-9).
    FailureRule(
      .userNeeded, at: [.refresh, .call], statuses: 400...499, meanings: [.userNeeded]),
    FailureRule(.rateLimited, at: tokenSteps, statuses: 400...499, codes: ["slow_down"]),
    FailureRule(
      .server, at: tokenSteps, statuses: 400...499, codes: Array(RequestFailure.repetitionCodes)),
    FailureRule(
      .unexpected, at: tokenSteps, statuses: 400...499, codes: Array(RequestFailure.requestCodes)),
    // The app is not known, which does not concern its user.
    FailureRule(.unexpected, statuses: 400...499, meanings: [.clientRefused]),
    FailureRule(.rejected, at: tokenSteps, statuses: 400...499, codes: ["invalid_grant"]),
    FailureRule(.rejected, at: [.call], status: 400, codes: ["invalid_grant"]),
  ]

  /// The rules before those of ``standardCodes``.
  private static let common: [FailureRule] = [
    // The request was not received in time, or was too early (RFC 9110 §15.5.9, RFC 8470 §5.2).
    // HAProxy 3.0 sends a page with 408, even if it received nothing of the request.
    FailureRule(.noReply, at: tokenSteps, status: 408),
    FailureRule(.noReply, at: tokenSteps, status: 425),
    // The response to a protected call may be a page, which the caller reads.
    FailureRule(
      .intercepted,
      at: [.login, .register, .social, .refresh, .switchContext, .profile, .revocation],
      body: .page),
    // Network authentication required (RFC 6585 §6).
    FailureRule(.intercepted, status: 511),
    // A proxy requires authentication (RFC 9110 §15.5.8).
    FailureRule(.intercepted, status: 407),
    // Only a network redirects a token request. After a logout, a server may redirect too.
    FailureRule(
      .intercepted, at: tokenSteps.subtracting([.revocation]), statuses: 300...399),
    // Some servers respond to a 401 with a line of text that they call HTML.
    FailureRule(.intercepted, at: tokenSteps, statuses: 100...400, body: .html),
    FailureRule(.intercepted, at: tokenSteps, statuses: 402...599, body: .html),
    // Firewalls and gateways answer 403 in forms of their own. Taken for the server's refusal, such
    // an answer would end the session of each user in that network (REF-6).
    // A company's proxy answered with a line of text, and ended sessions at once. The body is the
    // only evidence of the sender. A session that continues costs a request now and then, and one
    // that was ended wrongly costs the user a login. An app's own rule comes before this one.
    FailureRule(.intercepted, at: [.refresh], status: 403, body: .foreign),
    // A missing address is a gateway's answer as well.
    // A gateway did so while a backend was being replaced. A wrong path of the refresh looks the
    // same, so `why` names it as possible, and the session continues until its access token
    // expires.
    FailureRule(.intercepted, at: [.refresh], statuses: 404...405, body: .uncoded),
    FailureRule(.server, statuses: 500...599),
    FailureRule(.rateLimited, status: 429),
    FailureRule(.userInactive, statuses: 400...499, meanings: [.userInactive]),
    FailureRule(.userDeleted, statuses: 400...499, meanings: [.userDeleted]),
    FailureRule(.rateLimited, statuses: 400...499, codes: ["RATE_LIMITED"]),
    FailureRule(.server, statuses: 400...499, codes: ["DB_*"]),
    FailureRule(
      .rejected, at: tokenSteps, statuses: 400...499, codes: ["TOKEN_*"],
      meanings: [
        .refreshTokenReused, .tokenRevoked, .tokenExpired, .sessionNotFound, .tokenInvalid,
      ]),
    // A call may be about tokens other than the session's.
    FailureRule(
      .rejected, at: [.call], status: 403,
      codes: [
        "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "TOKEN_REUSED", "TOKEN_BLACKLISTED",
      ]),
  ]

  /// The rules of a backend by default.
  ///
  /// `Specs/Answers.md` lists them.
  public static let standard: [FailureRule] =
    common + standardCodes + [
      FailureRule(.rejected, status: 401),
      // At a sign-in, 403 means that the user is not allowed to do this. An app's rule can say that
      // it concerns the credential.
      FailureRule(.rejected, at: [.refresh, .switchContext, .revocation], status: 403),
    ]

  /// The rules of OAuth 2.0.
  ///
  /// At its endpoints only `invalid_grant` ends a session. A client that is unknown or not allowed
  /// does not concern the user (RFC 6749 §5.2).
  public static let oauth: [FailureRule] =
    common.prefix { !$0.wantsCode } + standardCodes + [
      FailureRule(.rejected, at: [.switchContext, .profile, .call], status: 401)
    ]
}
