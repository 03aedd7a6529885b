public import Foundation
@_spi(Internals) public import SessionCore
public import SessionJournal

/// Storage, backend, policy and hosts of a session.
///
/// Decide these five things before you ship. Each can be changed later, but users notice.
///
/// | Decide | With | Default |
/// | --- | --- | --- |
/// | What does a refused refresh do? | ``policy``, its `ending` | the session expires, the data stays |
/// | What happens to unsent changes at a logout? | ``hosts`` | the session knows of no changes |
/// | Can there be several accounts? | a directory and ``secrets`` for each | one account |
/// | Do extensions use the session? | one directory and ``secrets`` for all | each process has its own |
/// | Who can read the secrets? | a keychain service, or a store in ``secrets`` | none, so choose |
///
/// - A refused refresh: ``/SessionCore/SessionPolicy/standard`` keeps the user and the data until a logout.
///   ``/SessionCore/SessionPolicy/clearOnRefusal`` logs the user out, and the ``hosts`` clear their data.
/// - Unsent changes: a host says how many there are. A logout then throws with the number, unless
///   the app discards them. A change log is such a host.
/// - Several accounts: two sessions must share neither the directory nor the place of the secrets.
/// - Extensions: they share one session if they open the same directory, which all of them can
///   access, and the same secrets. Then one process refreshes, and the others use its token.
/// - Secrets: a keychain protects them by the device's lock or by the user's presence. A file store
///   leaves that to the file system.
///
/// - Requirement: POL-6, OUT-3, JRN-1, REF-3, STO-2
public struct SessionConfiguration: Sendable {
  /// The place of the log, one per account.
  var place: any LogPlace
  /// The store that keeps the secrets outside the journal.
  ///
  /// Each account needs a place of its own.
  public var secrets: any SecretStore
  /// The server that issues the tokens, and how to speak to it.
  public var backend: any AuthBackend
  /// Decides when a token is refreshed, what ends the session, and what a login must satisfy.
  public var policy: SessionPolicy
  /// The clock that tells the time.
  public var clock: any SessionClock
  /// The length at which a snapshot replaces old records of the journal; `nil` keeps all records.
  public var retention: RetentionPolicy?
  /// The version of the app.
  ///
  /// Each opening notes it in the journal. `sessionreplay stats --by version` groups the ends of
  /// sessions by it.
  ///
  /// The default is the version of the main bundle. A tool, a server and most programs on Linux
  /// have none.
  public var appVersion = AppVersion.ofMainBundle

  /// Values of modules above SessionKit.
  package var attached = AttachedValues()

  /// The rules for calls of ``Session/data(for:as:)``: which calls carry the token, where it is
  /// placed, and what a call may cost.
  ///
  /// A ``SessionInterceptor`` has its own rules.
  public var calls = CallRules()

  /// The former identities of the backend, such as earlier addresses or client identifiers; none by
  /// default.
  ///
  /// Stored tokens belong to one backend (``AuthBackend/identity``). A session with another
  /// ``backend`` does not open (`otherBackend`). If the backend has moved, add its former identity
  /// here. Its tokens are then sent to the new backend.
  ///
  /// - Requirement: STO-6
  public var formerBackends: [BackendIdentity] = []

  /// The place at which an earlier version of the app kept the session; `nil` by default.
  ///
  /// If a session is there, opening moves it here: its journal and its secrets. Give it to each process that
  /// can reach the former place, and keep it as long as users may update from that version. If the session
  /// cannot be moved yet, it is opened at the former place, and ``Session/moveProblem`` is the reason.
  ///
  /// - Requirement: ACC-3
  public var formerPlace: FormerPlace?
  /// Why the session is still at the former place.
  var moveProblem: SessionError?

  /// The owner of the tokens in place of the backend; `nil` if the backend owns them.
  ///
  /// - Requirement: WEB-6
  package var tokenSource: (any TokenSource)?

  /// The hosts, which keep data of the user next to the session, in the order in which they were
  /// added; none by default.
  ///
  /// ``add(host:)`` adds one. ``SessionHost`` documents the order of their calls.
  public internal(set) var hosts: [any SessionHost] = []
  /// The time limit for the ``hosts`` to clear what they keep of an ended session: a minute by
  /// default, `nil` for no limit.
  ///
  /// There is no limit either if every host can tell sign-ins apart
  /// (``SessionHost/separatesSignIns``).
  ///
  /// After this time, the task of the calls is cancelled. Their result still counts when they
  /// return. If they do not return within another second, a logout that waits returns
  /// `partial(.localDataRemains)`. Every login then throws `busy` until they return, because a
  /// running call may remove the data of the next user. Time during which the device sleeps counts.
  public var clearLocalDataLimit: Duration? = .seconds(60)

  /// The number of events kept in memory for subscribers, at least 1.
  ///
  /// Slower subscribers read from the journal.
  @_spi(Internals) public var eventBuffer = 1_024
  /// Whether records of other processes are read as soon as the system reports them.
  ///
  /// If it is `false`, they are read at the next commit or the next question. Most network file
  /// systems report no changes, so the journal is read each second there.
  ///
  /// - Requirement: JRN-1
  package var followsOthers = true
  /// Compacts the journal.
  package var compaction: Compaction = { (log, first) throws(JournalError) in
    try log.compact(
      keepingFrom: first, ifFirstIs: log.firstSequence, summary: SnapshotSummary())
  }
  /// Creates the runtime on which the session's work runs.
  package var runtime: @Sendable () -> SessionRuntime = { .system() }

  /// Compacts a log and keeps the records from a sequence on.
  ///
  /// Returns `nil` if nothing could be removed, or if the log no longer begins at the sequence that
  /// it reported.
  package typealias Compaction =
    @Sendable (any SessionLog, UInt64) throws(JournalError) ->
    JournalCompaction?

  /// Creates the configuration of a session in its own directory, with secrets in a store of your
  /// choice.
  ///
  /// - Parameters:
  ///   - directory: a file URL, one per account. ``Session/open(_:)`` creates it. It holds the
  ///     journal (``journalURL``) and its lock.
  ///   - backend: the server that issues the tokens.
  ///   - secrets: the store of the secrets, with a place per account.
  ///   - policy: when a token is refreshed, and what ends the session.
  ///   - clock: tells the time; `nil` for the device's clock.
  ///   - retention: the maximum length of the journal; `nil` keeps all records.
  public init(
    directory: URL, backend: some AuthBackend, secrets: some SecretStore,
    policy: SessionPolicy = .standard,
    clock: (any SessionClock)? = nil,
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.init(
      place: FilePlace(directory: directory), secrets: secrets, backend: backend, policy: policy,
      clock: clock ?? SystemClock(), retention: retention)
  }

  /// Creates the configuration of a session whose records are in another log than a file, for
  /// example in a database.
  ///
  /// What only files have is missing: nothing is set aside, and ``journalURL`` is `nil`. Nothing
  /// proves that a process on another host is gone. So the session waits until the lease of its
  /// request ends. `Specs/Logs.md` says what a log promises.
  ///
  /// - Parameters:
  ///   - log: the place of the log, one per account.
  ///   - backend: the server that issues the tokens.
  ///   - secrets: the store of the secrets, with a place per account. If the log stores secrets too,
  ///     a token and its event become durable together.
  ///   - policy: when a token is refreshed, and what ends the session.
  ///   - clock: tells the time; `nil` for the device's clock.
  ///   - retention: the maximum length of the log; `nil` keeps all records.
  /// - Requirement: SCL-1
  public init(
    log: some SessionLogPlace, backend: some AuthBackend, secrets: some SecretStore,
    policy: SessionPolicy = .standard,
    clock: (any SessionClock)? = nil,
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.init(
      place: OtherPlace(log), secrets: secrets, backend: backend, policy: policy,
      clock: clock ?? SystemClock(), retention: retention)
  }

  /// Creates the configuration of a session in its own directory, with secrets in the system's
  /// usual place.
  ///
  /// On Apple's systems the secrets are in the keychain, under `service`. They can be read after
  /// the device was unlocked once. On other systems they are files in the directory, which only
  /// their owner can read, and `service` is not used.
  ///
  /// - Parameters:
  ///   - directory: a file URL, one per account. ``Session/open(_:)`` creates it. It holds the
  ///     journal (``journalURL``) and its lock.
  ///   - backend: the server that issues the tokens.
  ///   - service: the keychain service, such as the app's identifier, one per account.
  ///   - policy: when a token is refreshed, and what ends the session.
  ///   - clock: tells the time; `nil` for the device's clock.
  ///   - retention: the maximum length of the journal; `nil` keeps all records.
  public init(
    directory: URL, backend: some AuthBackend, service: String,
    policy: SessionPolicy = .standard,
    clock: (any SessionClock)? = nil,
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    #if canImport(Security)
    let secrets = KeychainSecretStore(service: service)
    #else
    let secrets = FileSecretStore(folder: FilePlace.path(of: directory))
    #endif
    self.init(
      directory: directory, backend: backend, secrets: secrets, policy: policy, clock: clock,
      retention: retention)
  }

  /// Creates a configuration with a journal at a path.
  ///
  /// Its folder must exist.
  package init(
    journal: String, secrets: any SecretStore, backend: any AuthBackend,
    policy: SessionPolicy = .standard,
    clock: any SessionClock = SystemClock(),
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.init(
      place: FilePlace(path: journal), secrets: secrets, backend: backend, policy: policy,
      clock: clock, retention: retention)
  }

  private init(
    place: any LogPlace, secrets: any SecretStore, backend: any AuthBackend,
    policy: SessionPolicy, clock: any SessionClock, retention: RetentionPolicy?
  ) {
    self.place = place
    self.secrets = secrets
    self.backend = backend
    self.policy = policy
    self.clock = clock
    self.retention = retention
  }
}

extension SessionConfiguration {
  var binding: BackendBinding {
    BackendBinding(backend: backend.identity, former: formerBackends)
  }
}

extension SessionConfiguration {
  /// The journal's file, `session.journal` in the directory; `nil` if the log is no file.
  ///
  /// Use it with `sessionreplay`.
  public var journalURL: URL? {
    place.file.map { URL(fileURLWithPath: $0, isDirectory: false) }
  }

  /// The place of the journal's file; for another log, a place that is not used.
  var file: FilePlace {
    get { place as? FilePlace ?? FilePlace(path: place.name) }
    set { place = newValue }
  }

  /// The name of the log; for a file, its absolute path.
  package var journal: String {
    get { place.name }
    set { file.path = newValue }
  }

  /// The options of the journal's file.
  package var journalOptions: JournalOptions {
    get { file.options }
    set { file.options = newValue }
  }

  /// Creates the presence of an opening, which distinguishes it from other openings.
  package var presence: OpeningPresence.Maker {
    get { place.presence }
    set { place.presence = newValue }
  }
}

/// Builds the snapshot of a session's journal while it is compacted.
package struct SnapshotSummary: JournalSummary {
  private var payloads = PayloadFold()
  private var time = Timestamp(milliseconds: 0)
  /// Whether a record could not be read or folded.
  ///
  /// Then no snapshot may replace the records.
  private var isBroken = false

  /// Creates the summary of a journal without records.
  package init() {}

  package mutating func take(_ record: RecordHeader, payload: RawSpan) {
    guard !isBroken else { return }
    do throws(PayloadFold.Failure) {
      time = try payloads.apply(sequence: record.sequence, kind: record.kind, payload: payload)
    } catch {
      isBroken = true
    }
  }

  /// Returns the snapshot; `nil` if this version does not know all records that it took in.
  package func snapshot() -> [UInt8]? {
    guard !isBroken else { return nil }
    do throws(CodecError) {
      guard let content = try payloads.fold().snapshot else { return nil }
      return SessionCodec.encode(content, at: time).payload
    } catch {
      return nil
    }
  }
}

/// Values of modules above SessionKit that a configuration or a preset carries, at most one of each
/// type.
///
/// SessionKit does not know the types. A session has the values of the configuration that opened
/// it.
package struct AttachedValues: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates a collection without values.
  package init() {}

  /// The value of this type; `nil` if there is none.
  package subscript<Value: Sendable>(_ type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)] as? Value }
    set { values[ObjectIdentifier(type)] = newValue }
  }
}
