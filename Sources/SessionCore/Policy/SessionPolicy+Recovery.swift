extension SessionPolicy {
  /// What a session does if its journal cannot be used, or if its secrets outlive their journal.
  ///
  /// If the journal is damaged, of a newer version, or no journal at all:
  /// - ``strict``: opening throws and changes nothing.
  /// - ``resume``: the file is quarantined, and the session continues in a new journal.
  ///
  /// If secrets are stored and their journal is gone:
  /// - ``strict``: they are wiped, and that is journaled.
  /// - ``resume``: the session continues. A `login` with the method `adoption` records that.
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
    /// They are wiped, and that is journaled.
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
