public import SessionCore
package import SessionJournal

/// Where a session lives, whom it talks to and what it does when they disagree.
public struct SessionConfiguration: Sendable {
  /// The absolute path of the journal file; one per account.
  ///
  /// Its lock lies beside it.
  public var journal: String
  /// Where the secrets are kept, outside the journal; one place per account, as one journal.
  public var secrets: any SecretStore
  /// How the backend is spoken to.
  public var wire: Wire
  /// What the apps disagree about.
  public var policy: SessionPolicy
  /// What carries the requests.
  public var transport: any HTTPTransport
  /// What tells the time.
  public var clock: any SessionClock
  /// How many events are kept in memory for subscribers; a slower one is fed from the journal.
  public var eventBuffer: Int
  /// How long the journal may get before its old records give way to a snapshot; `nil` keeps all.
  public var retention: RetentionPolicy?
  /// Whether what other processes append is taken in as soon as the system tells of it (JRN-1).
  ///
  /// `true` if not said. Else it is at the next commit, or where somebody asks. Where the system does
  /// not tell, as on most network file systems, the journal is looked at each second.
  public var followsOthers = true

  /// Which version of the app this is, for the journal: each opening notes it, and
  /// `sessionreplay stats --by version` tells whose sessions end.
  ///
  /// The main bundle's if not said, which a tool, a server and most programs on Linux have not.
  public var appVersion = AppVersion.ofMainBundle

  /// Texts of the app's own for its users, used by ``Session/text(of:in:)``; none if not said (LOG-8).
  public var words = SessionWords.standard

  /// What happens where the journal cannot be used; `refuse` if not said (RES-6).
  public var whenJournalIsUnusable = UnusableJournal.refuse

  /// How the backend was spoken to at earlier addresses, or under earlier client identifiers; none if not said.
  ///
  /// Stored tokens are of one backend: its origins and the app's client identifier. A session with another
  /// ``wire`` does not open (`otherBackend`). Name the former wire here if the backend has moved: its tokens are
  /// then sent to the new one (STO-6).
  public var formerWires: [Wire] = []

  /// The app's identity SDK, where that owns the tokens: then acquiring silently is the refresh and
  /// removing the account the logout at the server, and no refresh token is kept (WEB-6).
  ///
  /// `nil` for all others, also where one signs in with an SDK whose refresh token the wire can use.
  public var identityProvider: (any IdentityProvider)?

  /// How many changes of the user have not reached the server yet: asked before a logout, which throws
  /// `pendingChanges` where there are any (OUT-3).
  public var pendingChanges: (@Sendable () async -> Int)?
  /// Removes the app's own data of the user: called after every logout, by the user, by the policy or
  /// because the account was deleted, and never when a session only expires (SYN-5).
  ///
  /// At least once: where the process dies in it, it is called again when the session is opened next; so
  /// what is gone already is no error. Until it returns, `logout` does not, and nobody signs in: it must
  /// not wait for the session. It has a time limit, see ``clearLocalDataLimit``. `close` does not wait for
  /// it and says if it still runs: when the session is opened again meanwhile, it is called again beside
  /// the first call. If several processes share a journal, give it to one.
  ///
  /// Where it throws, the data counts as not cleared: it is called again a few times while the session lives
  /// and nobody has signed in, before the next sign-in, and when the session is opened next; a logout is
  /// `partial` then.
  public var clearLocalData: (@Sendable (LogoutReason) async throws -> Void)?
  /// How long ``clearLocalData`` may take: a minute by default; `nil` for no limit.
  ///
  /// After this time its task is cancelled, and what it threw or cleared counts as soon as it returns. If it
  /// does not return within another second, a logout that waits is `partial(.localDataRemains)`, and every
  /// sign-in throws `clearingLocalData` until it does: a call that runs on may remove the data of the user
  /// who signs in next. The time for which the device sleeps counts.
  public var clearLocalDataLimit: Duration? = .seconds(60)
  /// The change logs that logouts have to do with.
  var settled: [SettledLog] = []

  /// When the status of a user last changed at the server, as far as the app knows (SYN-4).
  ///
  /// Asked for with each profile, which is asked by `policy.profileCheck`: one that says of an older
  /// change (`wire.answer.statusChangedAt`) came from a replica or a cache, and that it calls the user
  /// inactive or deleted ends nothing. `nil` where the app does not know; without this, every profile
  /// counts. ``settle(_:)`` sets it. Must not wait for the session.
  public var knownStatus: (@Sendable (Identifier) async -> Timestamp?)?
  /// Told that the status of the session's user has changed since it was known: what is kept of theirs
  /// must be synced anew, and the time must be kept for ``knownStatus`` (SYN-4).
  ///
  /// At least once: where the process dies in it, it is called again with the next profile. Must not wait
  /// for the session. ``settle(_:)`` keeps the time behind what is set here.
  public var statusChanged: (@Sendable (StatusChange) async -> Void)?

  /// How the journal is opened: which file system, and which identifier a new one gets.
  package var journalOptions = Journal.Options()
  /// How the journal is compacted.
  package var compaction: Compaction = { (journal, first) throws(JournalError) in
    try journal.compact(
      keepingFrom: first, ifFirstIs: journal.firstSequence, summary: SnapshotSummary())
  }
  /// Makes what the session's work runs on.
  package var runtime: @Sendable () -> SessionRuntime = { .system() }

  /// How an opening is told from others.
  package var presence = OpeningPresence.system

  /// Compacts a journal, keeping the records from a sequence on; `nil` where nothing could go,
  /// or the file does not begin any more where the journal said that it does.
  package typealias Compaction =
    @Sendable (Journal, UInt64) throws(JournalError) ->
    JournalCompaction?

  /// A configuration; what is not named is the system's.
  public init(
    journal: String, secrets: any SecretStore, wire: Wire, policy: SessionPolicy = .production,
    transport: any HTTPTransport = URLSessionTransport(),
    clock: any SessionClock = SystemClock(), eventBuffer: Int = 1024,
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.journal = journal
    self.secrets = secrets
    self.wire = wire
    self.policy = policy
    self.transport = transport
    self.clock = clock
    self.eventBuffer = max(1, eventBuffer)
    self.retention = retention
  }
}
