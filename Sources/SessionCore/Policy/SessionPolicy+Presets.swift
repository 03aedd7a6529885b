// The policies of the five apps whose documents the tests follow (`Specs/Seeds.md`), and of OAuth 2.0.
extension SessionPolicy {
  /// ``standard`` under another name.
  ///
  /// - Requirement: POL-1
  package static let production = SessionPolicy.standard.named("production")

  /// The policy of a school app with contexts, on top of the values of an environment.
  ///
  /// A user name is an e-mail address, and a password has at least 8 characters. All three stored
  /// items are required. A rejected refresh clears the session.
  ///
  /// - Requirement: LOG-1, RES-1
  package static func edu(_ environment: SessionPolicy = .production) -> SessionPolicy {
    environment.named("EDU \(environment.name)") {
      $0.limits.credentials = .emailAndPassword(minimumLength: 8)
      $0.limits.requiredItems = [.token, .user, .context]
      $0.ending.onRejection = .clear
      $0.ending.onExhaustion = .stay
    }
  }

  /// Azure AD B2C with its login page: 300 s before expiry, kept when rejected, never given up.
  package static let b2c = SessionPolicy.staging.named("B2C") { $0.limits.loginsPerMinute = nil }

  /// An offline-first app: one attempt, and an expired session keeps its data.
  ///
  /// - Requirement: POL-1, POL-2
  package static let off = SessionPolicy.offlineFirst.named("OFF") {
    $0.limits.credentials = .emailAndPassword(minimumLength: 1)
  }

  /// A ticketing app: one attempt, and a refresh at every launch and on demand.
  ///
  /// If a refresh is rejected, the user is logged out. A failing server ends no session whose
  /// access token is valid.
  ///
  /// - Requirement: POL-1, POL-2, POL-3, REF-12
  package static let tik = SessionPolicy.clearOnRefusal.named("TIK") {
    // No timer for a valid token. A refresh that failed is still repeated, since something needed
    // it (REF-12).
    $0.refresh.beforeExpiry = nil
    $0.refresh.attempts = 1
    $0.refresh.firstRetryDelay = .seconds(1)
    $0.refresh.atLaunch = .always
    // Exhausted attempts end no session whose token is valid here. The document of API requires a
    // logout after three attempts, so that policy ends it.
    $0.ending.onExhaustion = .endAfterExpiry(.clear)
    $0.limits.profileCheck = .afterLoginAndLaunch
  }

  /// A project-management app: 5 minutes before expiry, three attempts, then logged out.
  ///
  /// - Requirement: POL-1, POL-2
  package static let api = SessionPolicy.clearOnRefusal.named("API") {
    $0.refresh.beforeExpiry = .seconds(300)
    $0.refresh.attempts = 3
    $0.refresh.firstRetryDelay = .seconds(1)
    $0.ending.onExhaustion = .end(.clear)
    $0.limits.credentials = .emailAndPassword(minimumLength: 8)
  }

  /// OAuth 2.0 where it has rules: 60 s before expiry, three attempts, kept when rejected.
  package static let oauth = SessionPolicy.standard.named("OAuth 2.0") {
    $0.refresh.beforeExpiry = .seconds(60)
    $0.refresh.attempts = 3
    $0.refresh.firstRetryDelay = .seconds(1)
  }
}

extension SessionPolicy {
  /// What a session does if its journal cannot be used, or if its secrets outlive their journal.
  ///
  /// If the journal is damaged, of a newer version, or no journal at all:
  /// - ``strict``: opening throws and changes nothing.
  /// - ``resume``: the file is quarantined, and the session continues in a new journal.
  ///
  /// If secrets are stored and their journal is gone:
  /// - ``strict``: they are not used. An opening wipes them and journals that, if the journal was first
  ///   missed at least seven days before. A logout wipes them at once, and a login replaces them.
  /// - ``resume``: the session continues. A `login` with the method `adoption` records that.
  ///
  /// If the journal comes back, it goes on. With ``resume`` it takes the newer tokens over from the
  /// journal that took its place. Neither removes what the other has stored.
  ///
  /// ``resume`` never removes the file. It moves it to `<path>.aside-<n>-<cause>-<time>`. The
  /// first records of the new journal name the old one and the last sequence that could be read.
  /// `journalSetAside` notifies the app.
  ///
  /// The session continues only if its token is stored and no readable record ends it. If the file
  /// does not tell which journal it was, its secrets count as those of a journal that is gone.
  ///
  /// Secrets outlive their journal if an app is removed and its keychain stays. With ``strict`` a
  /// new installation begins without a user.
  ///
  /// With both, nothing is wiped or moved if the journal merely cannot be read yet.
  ///
  /// - Requirement: RES-5, RES-6, RES-7
  public struct Recovery: Hashable, Sendable {
    /// What happens to secrets whose journal is gone.
    package var orphanedSecrets: OrphanedSecrets
    /// What happens to a journal that cannot be used.
    package var unusableJournal: UnusableJournal

    /// Opening throws for an unusable journal and wipes secrets without a journal.
    public static let strict = Recovery(orphanedSecrets: .wipe, unusableJournal: .refuse)
    /// The session continues with what is left of it.
    public static let resume = Recovery(orphanedSecrets: .adopt, unusableJournal: .setAside)
  }

  /// What happens to secrets whose journal is gone, if the new journal has never had a token.
  ///
  /// - Requirement: RES-5
  package enum OrphanedSecrets: Hashable, Sendable {
    /// They are wiped at an opening seven days later, and that is journaled.
    case wipe
    /// The session continues with them: a note says from where, and a `login` by adoption follows.
    case adopt
  }

  /// What happens to a journal that cannot be used.
  ///
  /// It is damaged, written by a newer version, or no journal at all.
  ///
  /// - Requirement: RES-6
  package enum UnusableJournal: Hashable, Sendable {
    /// Opening throws and changes nothing.
    case refuse
    /// It is quarantined, never removed, and a new journal continues it.
    case setAside
  }
}
