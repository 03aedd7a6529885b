extension SessionPolicy {
  /// Azure AD B2C, signed in to on a page: 300 s before expiry, kept when refused, never given up.
  public static let b2c = SessionPolicy(
    name: "B2C", refreshThreshold: 300_000, maximumAttempts: 3, firstRetryDelay: 1_000,
    onRejection: .keep)

  /// An offline-first app: one attempt, and an expired session keeps its data (POL-1, POL-2).
  ///
  /// A server in trouble ends no session whose access token is good.
  public static let off = SessionPolicy(
    name: "OFF", credentials: .emailAndPassword(minimumLength: 1), refreshThreshold: 300_000,
    maximumAttempts: 1, firstRetryDelay: 1_000, onRejection: .keep,
    onExhaustion: .endAfterExpiry(.keep), signInLimit: .production,
    profileCheck: .afterLoginAndLaunch)

  /// A ticketing app: one attempt, refreshed at every launch and when a call needs it, logged out when it
  /// cannot be (POL-1, POL-2, POL-3, REF-12).
  ///
  /// A server in trouble ends no session whose access token is good.
  public static let tik: SessionPolicy = {
    var policy = SessionPolicy(
      name: "TIK", maximumAttempts: 1, firstRetryDelay: 1_000, launchRefresh: .always,
      onRejection: .clear, onExhaustion: .endAfterExpiry(.clear), signInLimit: .production,
      profileCheck: .afterLoginAndLaunch)
    policy.refreshesBeforeExpiry = false
    return policy
  }()

  /// A project-management app: 5 minutes before expiry, three attempts, then logged out (POL-1,
  /// POL-2).
  public static let api = SessionPolicy(
    name: "API", credentials: .emailAndPassword(minimumLength: 8), refreshThreshold: 300_000,
    maximumAttempts: 3, firstRetryDelay: 1_000, onRejection: .clear, onExhaustion: .end(.clear),
    signInLimit: .production)

  /// OAuth 2.0 as far as it has a say: 60 s before expiry, three attempts, kept when refused.
  public static let oauth = SessionPolicy(
    name: "OAuth 2.0", refreshThreshold: 60_000, maximumAttempts: 3, firstRetryDelay: 1_000,
    onRejection: .keep, signInLimit: .production)
}
