public import Foundation
public import SessionCore
package import SessionJournal

/// Storage, backend, policy and hosts of a session.
///
/// Decide these five things before you ship. Each can be changed later, but users notice.
///
/// | Decide | With | If you say nothing |
/// | --- | --- | --- |
/// | What does a refused refresh do? | ``policy``, its `ending` | the session expires, the data stays |
/// | What happens to unsent changes at a logout? | ``hosts`` | the session knows of no changes |
/// | Can there be several accounts? | a directory and ``secrets`` for each | one account |
/// | Do extensions use the session? | one directory and ``secrets`` for all | each process has its own |
/// | Who can read the secrets? | a keychain service, or ``secrets``: a store of your choice | you have to say it |
///
/// - A refused refresh: ``SessionPolicy/standard`` keeps the user and the data until a logout.
///   ``SessionPolicy/clearOnRefusal`` logs the user out, and the ``hosts`` clear their data.
/// - Unsent changes: a host says how many there are. A logout then throws with the number, unless the app
///   discards them. A change log is such a host.
/// - Several accounts: two sessions must share neither the directory nor the place of the secrets.
/// - Extensions: they share one session if they open the same directory, which all of them reach, and the
///   same secrets. Then one process refreshes, and the others use its token.
/// - Secrets: a keychain protects them by the device's lock or by the user's presence. A file store leaves
///   that to the file system.
///
/// - Requirement: POL-6, OUT-3, JRN-1, REF-3, STO-2
public struct SessionConfiguration: Sendable {
  /// The absolute path of the journal file; one per account.
  package var journal: String
  /// What ``Session/open(_:)`` creates; `nil` if the journal's path was named instead.
  package private(set) var directory: URL?
  /// Where the secrets are kept, outside the journal; one place per account, as one journal.
  public var secrets: any SecretStore
  /// The server that issues the tokens, and how to speak to it.
  public var backend: any AuthBackend
  /// When a token is refreshed, what ends the session, and what a login must pass.
  public var policy: SessionPolicy
  /// What tells the time.
  public var clock: any SessionClock
  /// How long the journal may get before its old records give way to a snapshot; `nil` keeps all.
  public var retention: RetentionPolicy?
  /// Which version of the app this is, for the journal: each opening notes it, and
  /// `sessionreplay stats --by version` tells whose sessions end.
  ///
  /// The main bundle's if not said, which a tool, a server and most programs on Linux have not.
  public var appVersion = AppVersion.ofMainBundle

  /// Values of modules above SessionKit.
  package var attached = AttachedValues()

  /// Which calls of ``Session/data(for:as:)`` carry the token, where it travels, and what a call may cost.
  ///
  /// A ``SessionInterceptor`` has rules of its own.
  public var calls = CallRules()

  /// Which backends this one was before: at earlier addresses, or under earlier client identifiers; none by
  /// default.
  ///
  /// Stored tokens belong to one backend (``AuthBackend/identity``). A session with another ``backend`` does not
  /// open (`otherBackend`). If the backend has moved, name its former identity here: its tokens are then sent to
  /// the new one.
  ///
  /// - Requirement: STO-6
  public var formerBackends: [BackendIdentity] = []

  /// What owns the tokens in place of the backend; `nil` if the backend does.
  ///
  /// - Requirement: WEB-6
  package var tokenSource: (any TokenSource)?

  /// What keeps data of the user beside the session, in the order in which it was added; none by default.
  ///
  /// ``add(host:)`` adds one. ``SessionHost`` says in which order they are called.
  public internal(set) var hosts: [any SessionHost] = []
  /// How long the ``hosts`` may take to clear what they keep of a session that has ended: a minute by default;
  /// `nil` for no limit.
  ///
  /// There is no limit either if every host can tell sign-ins apart (``SessionHost/separatesSignIns``).
  ///
  /// After this time the task of their calls is cancelled, and what they threw or cleared counts as soon as they
  /// return. If they do not return within another second, a logout that waits is `partial(.localDataRemains)`,
  /// and every login throws `busy` until they do: a call that runs on may remove the data of the
  /// user who signs in next. The time for which the device sleeps counts.
  public var clearLocalDataLimit: Duration? = .seconds(60)

  /// How many events are kept in memory for subscribers, at least 1; a slower one is fed from the journal.
  @_spi(Internals) public var eventBuffer = 1_024
  /// Whether records of other processes are read as soon as the system reports them.
  ///
  /// If not, they are read at the next commit or the next question. A file system that reports nothing, as most
  /// network file systems, is read each second.
  ///
  /// - Requirement: JRN-1
  package var followsOthers = true
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

  /// A session in a directory of its own, with secrets in a store of your choice.
  ///
  /// - Parameters:
  ///   - directory: a file URL; one per account. ``Session/open(_:)`` creates it. It holds the journal
  ///     (``journalURL``) and its lock.
  ///   - backend: the server that issues the tokens.
  ///   - secrets: where the secrets are kept; one place per account.
  ///   - policy: when a token is refreshed, and what ends the session.
  ///   - clock: what tells the time; `nil` for the device's clock.
  ///   - retention: how long the journal may get; `nil` keeps all records.
  public init(
    directory: URL, backend: some AuthBackend, secrets: some SecretStore,
    policy: SessionPolicy = .standard,
    clock: (any SessionClock)? = nil,
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.init(
      journal: Self.journal(in: directory), secrets: secrets, backend: backend, policy: policy,
      clock: clock ?? SystemClock(), retention: retention)
    self.directory = directory
  }

  /// A session in a directory of its own, with secrets where the system keeps them.
  ///
  /// On Apple's systems they are in the keychain, under `service`, readable after the device was unlocked once.
  /// On other systems they are files in the directory, which only their owner can read, and `service` is not
  /// used.
  ///
  /// - Parameters:
  ///   - directory: a file URL; one per account. ``Session/open(_:)`` creates it. It holds the journal
  ///     (``journalURL``) and its lock.
  ///   - backend: the server that issues the tokens.
  ///   - service: the keychain service, such as the app's identifier; one per account.
  ///   - policy: when a token is refreshed, and what ends the session.
  ///   - clock: what tells the time; `nil` for the device's clock.
  ///   - retention: how long the journal may get; `nil` keeps all records.
  public init(
    directory: URL, backend: some AuthBackend, service: String,
    policy: SessionPolicy = .standard,
    clock: (any SessionClock)? = nil,
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    #if canImport(Security)
      let secrets = KeychainSecretStore(service: service)
    #else
      let secrets = FileSecretStore(folder: Self.path(of: directory))
    #endif
    self.init(
      directory: directory, backend: backend, secrets: secrets, policy: policy, clock: clock,
      retention: retention)
  }

  /// A configuration with a journal at a path, in a folder that is there.
  package init(
    journal: String, secrets: any SecretStore, backend: any AuthBackend,
    policy: SessionPolicy = .standard,
    clock: any SessionClock = SystemClock(),
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.journal = journal
    self.secrets = secrets
    self.backend = backend
    self.policy = policy
    self.clock = clock
    self.retention = retention
  }
}
