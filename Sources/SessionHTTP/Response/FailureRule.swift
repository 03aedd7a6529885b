@_spi(Internals) public import SessionCore

/// What an answer means, as data: of a backend's rules the first that matches counts.
///
/// An answer that no rule matches is a success at 2xx, and else `unexpected`. At a refresh `rejected`,
/// `userInactive` and `userDeleted` end the session; at a protected call `rejected` says that the
/// access token is good for nothing any more, and `unexpected` is the caller's own affair, such as a
/// 403 that is no matter of the token.
///
/// - Requirement: LOG-7, REF-6
public struct FailureRule: Hashable, Sendable {
  /// What a body looks like.
  public enum Body: Hashable, Sendable {
    /// Nothing but white space.
    case empty
    /// HTML or XML: the first character is `<`.
    case page
    /// What `Content-Type` says is HTML, and is neither nothing nor JSON, whatever it begins with.
    case html
    /// Neither nothing nor JSON, and no code that is kept can be read from it: a line of a proxy.
    case text
    /// Anything from which no code that is kept can be read, also nothing.
    case uncoded
  }

  /// What it means.
  public var meaning: RequestFailure.Kind
  /// The steps whose answers it is about; `nil` for all.
  public var steps: Set<HTTPBackend.Step>?
  /// The statuses, 100 to 599 for all.
  public var statuses: ClosedRange<Int>
  /// The server's codes, of which one must be there; `TOKEN_*` stands for all that begin so, and an
  /// empty list for any or none.
  public var codes: [String]
  /// What the server's code may mean instead of being one of ``codes``; by ``HTTPBackend/errorCodes``, and for
  /// codes that are known for every backend.
  ///
  /// - Requirement: POL-8
  public var meanings: Set<ErrorMeaning>
  /// What the body looks like; `nil` for anything.
  public var body: Body?

  /// A rule about a range of statuses.
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

  /// A rule about one status.
  public init(
    _ meaning: RequestFailure.Kind, at steps: Set<HTTPBackend.Step>? = nil, status: Int,
    codes: [String] = [], meanings: Set<ErrorMeaning> = [], body: Body? = nil
  ) {
    self.init(
      meaning, at: steps, statuses: status...status, codes: codes, meanings: meanings, body: body)
  }

  /// Whether it is about codes, and not about any answer.
  var wantsCode: Bool { !codes.isEmpty || !meanings.isEmpty }

  func matches(_ step: HTTPBackend.Step, _ signs: AnswerSigns) -> Bool {
    guard steps?.contains(step) != false, statuses.contains(signs.status) else { return false }
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

  /// The rules of a backend of which nothing else was said; `Specs/Answers.md` has them row by row.
  public static let standard: [FailureRule] = [
    // A protected call may well be answered with a page; it is the caller's to read.
    FailureRule(
      .intercepted,
      at: [.login, .register, .social, .refresh, .switchContext, .profile, .revocation],
      body: .page),
    // Network authentication required (RFC 6585 §6).
    FailureRule(.intercepted, status: 511),
    // A proxy wants to know who asks (RFC 9110 §15.5.8).
    FailureRule(.intercepted, status: 407),
    // Nobody is sent elsewhere for a token but by a network; after a logout a server may well do so.
    FailureRule(
      .intercepted, at: tokenSteps.subtracting([.revocation]), statuses: 300...399),
    // With a 401, a line of text that is called HTML is what some servers say.
    FailureRule(.intercepted, at: tokenSteps, statuses: 100...400, body: .html),
    FailureRule(.intercepted, at: tokenSteps, statuses: 402...599, body: .html),
    // At the refresh, a line of text or an address that is not there is a proxy's (REF-6). An object with a
    // code of the backend is the backend's own.
    FailureRule(.intercepted, at: [.refresh], status: 403, body: .text),
    FailureRule(.intercepted, at: [.refresh], statuses: 404...405, body: .uncoded),
    // It was not taken in time, or not yet (RFC 9110 §15.5.9, RFC 8470 §5.2).
    FailureRule(.noReply, at: tokenSteps, status: 408),
    FailureRule(.noReply, at: tokenSteps, status: 425),
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
    // A call may be about tokens that are none of the session's.
    FailureRule(
      .rejected, at: [.call], status: 403,
      codes: [
        "TOKEN_EXPIRED", "TOKEN_INVALID", "TOKEN_REVOKED", "TOKEN_REUSED", "TOKEN_BLACKLISTED",
      ]),
    // The app is not known, which says nothing of its user.
    FailureRule(.unexpected, statuses: 400...499, meanings: [.clientRefused]),
    FailureRule(.rejected, status: 400, codes: ["invalid_grant"]),
    FailureRule(.rejected, status: 401),
    // At a sign-in it says that someone may not do this, unless an app's rule says that it is about the
    // credential.
    FailureRule(.rejected, at: [.refresh, .switchContext, .revocation], status: 403),
  ]

  /// The rules of OAuth 2.0: at its endpoints `invalid_grant` ends a session and nothing else does,
  /// for a client that is not known or not allowed says nothing of its user (RFC 6749 §5.2).
  public static let oauth: [FailureRule] =
    standard.prefix { !$0.wantsCode } + [
      FailureRule(
        .server, statuses: 400...499, codes: ["server_error", "temporarily_unavailable"]),
      FailureRule(.rejected, statuses: 400...401, codes: ["invalid_grant"]),
      FailureRule(.rejected, at: [.switchContext, .profile, .revocation, .call], status: 401),
    ]
}
