extension SessionPolicy {
  /// Azure AD B2C, signed in to on a page: 300 s before expiry, kept when refused, never given up.
  public static let b2c = SessionPolicy(
    name: "B2C", refreshThreshold: 300_000, maximumAttempts: 3, firstRetryDelay: 1_000,
    onRejection: .keep)

  /// An offline-first app: one attempt, and an expired session keeps its data (POL-1, POL-2).
  public static let off = SessionPolicy(
    name: "OFF", credentials: .emailAndPassword(minimumLength: 1), refreshThreshold: 300_000,
    maximumAttempts: 1, firstRetryDelay: 1_000, onRejection: .keep, onExhaustion: .end(.keep),
    signInLimit: .production, profileCheck: .afterLoginAndLaunch)

  /// A ticketing app: one attempt, refreshed at every launch, logged out when it cannot be (POL-1,
  /// POL-2, POL-3).
  public static let tik = SessionPolicy(
    name: "TIK", refreshThreshold: 60_000, maximumAttempts: 1, firstRetryDelay: 1_000,
    launchRefresh: .always, onExhaustion: .end(.clear), signInLimit: .production,
    profileCheck: .afterLoginAndLaunch)

  /// A project-management app: 5 minutes before expiry, three attempts, then logged out (POL-1,
  /// POL-2).
  public static let api = SessionPolicy(
    name: "API", credentials: .emailAndPassword(minimumLength: 8), refreshThreshold: 300_000,
    maximumAttempts: 3, firstRetryDelay: 1_000, onExhaustion: .end(.clear),
    signInLimit: .production)

  /// OAuth 2.0 as far as it has a say: 60 s before expiry, three attempts, kept when refused.
  public static let oauth = SessionPolicy(
    name: "OAuth 2.0", refreshThreshold: 60_000, maximumAttempts: 3, firstRetryDelay: 1_000,
    onRejection: .keep, signInLimit: .production)
}
