extension SessionPolicy {
  /// What a session does if its journal cannot be used, or if its secrets outlived their journal.
  ///
  /// If the journal is damaged, of a newer version, or no journal at all:
  /// - ``strict``: opening throws and changes nothing.
  /// - ``resume``: the file is moved aside, and the session goes on in a new journal.
  ///
  /// If secrets are stored and their journal is gone:
  /// - ``strict``: they are wiped, and that is journaled.
  /// - ``resume``: the session goes on. A `login` with the method `adoption` says so.
  ///
  /// With ``resume`` a file is never removed. It is moved to `<path>.aside-<n>-<cause>-<time>`. The first
  /// records of the new journal name the old one and the last sequence that could be read, and
  /// `journalSetAside` tells the app. The session goes on only if its token is stored and no record that
  /// can be read says that it ended. If the file does not say which journal it was, its secrets count as
  /// those of a journal that is gone.
  ///
  /// Secrets outlive their journal if an app is removed and its keychain stays. With ``strict`` a new
  /// installation begins without a user.
  ///
  /// In both cases nothing is wiped or moved while the journal only cannot be read yet.
  ///
  /// - Requirement: RES-5, RES-6, RES-7
  public struct Recovery: Hashable, Sendable {
    /// What happens to secrets whose journal is gone.
    package var orphanedSecrets: OrphanedSecrets
    /// What happens to a journal that cannot be used.
    package var unusableJournal: UnusableJournal

    /// Nothing goes on by itself: an unusable journal is an error, and secrets without a journal are wiped.
    public static let strict = Recovery(orphanedSecrets: .wipe, unusableJournal: .refuse)
    /// The session goes on with what is left of it.
    public static let resume = Recovery(orphanedSecrets: .adopt, unusableJournal: .setAside)
  }

  /// What happens to secrets whose journal is gone, if this journal has never had a token.
  ///
  /// - Requirement: RES-5
  package enum OrphanedSecrets: Hashable, Sendable {
    /// They are wiped, and that is noted.
    case wipe
    /// The session goes on with them: a note says from where, and a `login` by adoption follows.
    case adopt
  }

  /// What happens to a journal that cannot be used: damaged in what was acknowledged, written by a newer
  /// version, or no journal at all.
  ///
  /// - Requirement: RES-6
  package enum UnusableJournal: Hashable, Sendable {
    /// Opening throws and changes nothing.
    case refuse
    /// It is moved aside, never removed, and a new journal goes on from it.
    case setAside
  }
}
