public import Foundation
@_spi(Internals) public import SessionCore
package import SessionJournal
public import SessionKit
import Synchronization

/// The accounts of an app: a list that is the fold of a journal, and a session for each account.
///
/// ```swift
/// let accounts = try await Accounts.open(directory: base) { account, directory in
///   SessionConfiguration(directory: directory, backend: backend, service: "com.example.notes.\(account.id)")
/// }
/// let account = try await accounts.add()
/// try await accounts.session(of: account.id).login(.password(email, password))
/// try await accounts.select(account.id)
/// try await accounts.remove(account.id)      // logs out, and leaves no secret
/// ```
/// Any number of tasks and several processes can use one directory. The sessions are independent.
///
/// - Requirement: ACC-1
public final class Accounts: Sendable {
  private typealias Opening = Task<Result<Session, SessionError>, Never>

  private let store: AccountStore
  private let setup: Setup
  private let runtime: SessionRuntime
  private let openings = Mutex<[Account.ID: Opening]>([:])
  private let work = Mutex<[Task<Void, Never>]>([])

  /// The parameters of an opening.
  package struct Setup: Sendable {
    package var path: String
    package var clock: any SessionClock = SystemClock()
    package var options = JournalOptions()
    package var runtime = SessionRuntime.system(on: .waiting)
    package var followsOthers = true
    package var configuration: @Sendable (Account) throws(SessionError) -> SessionConfiguration

    package init(
      path: String,
      _ configuration: @escaping @Sendable (Account) throws(SessionError) -> SessionConfiguration
    ) {
      (self.path, self.configuration) = (path, configuration)
    }
  }

  private init(_ store: AccountStore, _ setup: Setup) {
    (self.store, self.setup, runtime) = (store, setup, setup.runtime)
  }

  deinit { stop() }

  /// Opens the list of accounts in a directory, or creates it; opens no session.
  ///
  /// It holds `accounts.journal`, and a directory for each account, named by its identifier. If the list is
  /// damaged, it is moved aside, and the new list has the accounts whose directories are there.
  ///
  /// Removals that were interrupted go on in the background.
  ///
  /// - Parameters:
  ///   - directory: a file URL; it is created with the mode 0700 if it is missing.
  ///   - clock: tells the time; `nil` for the device's clock.
  ///   - configuration: makes the configuration of an account's session in the account's directory. Give each
  ///     account a place for secrets of its own, such as a keychain service that ends with its identifier.
  public static func open(
    directory: URL, clock: (any SessionClock)? = nil,
    _ configuration: @escaping @Sendable (Account, _ directory: URL) -> SessionConfiguration
  ) async throws(AccountsError) -> Accounts {
    guard directory.isFileURL, directory.path.first == "/" else { throw .wrongDirectory }
    var setup = Setup(path: directory.appending(path: "accounts.journal").path) { account in
      configuration(account, directory.appending(path: "\(account.id)"))
    }
    if let clock { setup.clock = clock }
    do {
      try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw .journal(.folderMissing(path: setup.path))
    }
    return try await open(setup)
  }

  package static func open(_ setup: Setup) async throws(AccountsError) -> Accounts {
    let store = try await setup.runtime.result { () throws(AccountsError) in
      try AccountStore.open(setup.path, setup.options, setup.clock)
    }
    let accounts = Accounts(store, setup)
    accounts.start()
    return accounts
  }

  // MARK: The list

  /// The accounts, as of the last read of the journal.
  ///
  /// It never waits. Another process's change is visible after a short delay (``read()``).
  public var list: AccountList { store.shown.current }

  /// The list, now and after each change of it, also by other processes.
  ///
  /// Lists in between are skipped. The sequence ends when this object is closed or the task is cancelled.
  public var lists: some AsyncSequence<AccountList, Never> & Sendable { store.shown.values }

  /// Reads what other processes have changed, and returns the list.
  @discardableResult
  public func read() async throws(AccountsError) -> AccountList {
    let store = store
    return try await runtime.result { () throws(AccountsError) in try store.read() }
  }

  /// Adds an account without a user, and returns it; it does not become the current one.
  ///
  /// It is durable before anything else of it exists. So every secret belongs to an account of the list.
  public func add() async throws(AccountsError) -> Account {
    let id = Identifier(UUID().uuidString.lowercased())
    guard let account = try await perform(.add(id))[id] else { throw .unknown(id) }
    return account
  }

  /// Makes an account the current one; `nil` for none.
  public func select(_ id: Account.ID?) async throws(AccountsError) {
    try await perform(.select(id))
  }

  // MARK: Sessions

  /// Returns the session of an account, and opens it if it is not open.
  ///
  /// All callers share one object, until it is closed.
  public func session(of id: Account.ID) async throws(AccountsError) -> Session {
    let session = try await session(try await listed(id))
    // Another process may have removed the account while its session was opened.
    do throws(AccountsError) { _ = try await listed(id) } catch {
      _ = try await onSession(id) { () throws(SessionError) in try await session.close() }
      throw error
    }
    return session
  }

  private func listed(_ id: Account.ID) async throws(AccountsError) -> Account {
    guard let account = try await read()[id] else { throw .unknown(id) }
    guard account.stage == .listed else { throw .leaving(id) }
    return account
  }

  private func session(_ account: Account) async throws(AccountsError) -> Session {
    while true {
      let setup = setup
      let opening = openings.withLock { openings in
        let opening =
          openings[account.id]
          ?? runtime.spawn(returning: {
            do throws(SessionError) {
              return .success(try await Session.open(try setup.configuration(account)))
            } catch {
              return .failure(error)
            }
          })
        openings[account.id] = opening
        return opening
      }
      switch await opening.value {
      case .success(let session):
        guard session.isClosed else { return session }
        forget(account.id, opening)
      case .failure(let error):
        forget(account.id, opening)
        throw .session(account.id, error)
      }
    }
  }

  /// Forgets an opening, unless another one has taken its place.
  private func forget(_ id: Account.ID, _ opening: Opening) {
    openings.withLock { openings in
      if openings[id] == opening { openings[id] = nil }
    }
  }

  // MARK: Removing

  /// Logs an account out, and removes it with its journal, its secrets and its directory.
  ///
  /// It returns how the logout ended. The account is not in ``/SessionCore/AccountList/all`` any more. If the
  /// server could not be told, the outcome is `partial`, and the account is in
  /// ``/SessionCore/AccountList/leaving``: the next opening of the list tells the server and removes the rest. A
  /// file of the app keeps the directory.
  ///
  /// A logout at a provider's page that is pending is dropped. Finish it first.
  ///
  /// - Parameters:
  ///   - id: the account. Another call for one that is leaving tries the rest again.
  ///   - discardingPendingChanges: as for ``/SessionKit/Session/logout(_:discardingPendingChanges:)``. If unsent
  ///     changes stop the logout, the account stays as it was.
  /// - Requirement: ACC-1, OUT-1, OUT-3
  @discardableResult
  public func remove(
    _ id: Account.ID, discardingPendingChanges: Bool = false
  ) async throws(AccountsError) -> LogoutOutcome {
    guard let account = try await read()[id] else { throw .unknown(id) }
    var outcome = LogoutOutcome.alreadyLoggedOut
    if account.stage == .listed {
      // The logout comes first: it may be refused, and then the account stays. After a kill between the
      // two, the account is listed, logged out, and its journal says so.
      let session = try await session(account)
      outcome = try await onSession(id) { () throws(SessionError) in
        try await session.logout(discardingPendingChanges: discardingPendingChanges)
      }
      try await perform(.beginRemoval(id))
    }
    return try await finish(id, outcome)
  }

  /// Does what is left of a removal; returns the outcome of the logout.
  private func finish(_ id: Account.ID, _ first: LogoutOutcome) async throws(AccountsError)
    -> LogoutOutcome
  {
    var outcome = first
    // A user may log in again, in a process that has not read the list.
    for _ in 0..<3 {
      guard let account = try await read()[id] else { return outcome }
      let configuration = try await onSession(id) { () throws(SessionError) in
        try setup.configuration(account)
      }
      var found = Session.Removal.loggedIn
      if account.stage == .ended {
        found = try await onSession(id) { () throws(SessionError) in
          try await Session.remove(configuration)
        }
      }
      if found != .removed {
        let session = try await session(account)
        let (latest, end) = try await onSession(id) { () throws(SessionError) in
          // The user was asked when the removal began.
          let latest = try await session.logout(discardingPendingChanges: true)
          await session.untilSettled()
          let end = session.lastEnd
          try await session.close()
          return (latest, end)
        }
        if latest != .alreadyLoggedOut { outcome = latest }
        try await perform(.end(id, end))
        found = try await onSession(id) { () throws(SessionError) in
          try await Session.remove(configuration)
        }
      }
      switch found {
      case .removed:
        try await perform(.finishRemoval(id))
        openings.withLock { $0[id] = nil }
        return outcome
      case .pending:
        return outcome
      case .loggedIn:
        continue
      }
    }
    throw .inUse(id)
  }

  private func onSession<Value>(
    _ id: Account.ID, _ body: () async throws(SessionError) -> Value
  ) async throws(AccountsError) -> Value {
    do throws(SessionError) { return try await body() } catch { throw .session(id, error) }
  }

  // MARK: The object

  /// Closes the list and the sessions that were opened through it; later calls throw `journal(.closed)`.
  ///
  /// Throws the first error of a session that could not be closed, after all were closed.
  public func close() async throws(AccountsError) {
    stop()
    for task in work.withLock({ $0 }) { await task.value }
    var problem: AccountsError?
    for (id, opening) in openings.withLock({ $0 }) {
      guard case .success(let session) = await opening.value else { continue }
      do throws(SessionError) { try await session.close() } catch {
        problem = problem ?? .session(id, error)
      }
    }
    let store = store
    try await runtime.result { () throws(AccountsError) in try store.close() }
    if let problem { throw problem }
  }

  @discardableResult
  private func perform(_ command: AccountCommand) async throws(AccountsError) -> AccountList {
    let store = store
    return try await runtime.result { () throws(AccountsError) in try store.perform(command) }
  }

  private func stop() {
    work.withLock { work in for task in work { task.cancel() } }
  }

  /// Starts what no caller waits for.
  private func start() {
    let leaving = list.leaving.map(\.id)
    var tasks: [Task<Void, Never>] = []
    if !leaving.isEmpty {
      tasks.append(
        runtime.spawn { [weak self] in
          for id in leaving where !Task.isCancelled {
            do throws(AccountsError) { _ = try await self?.finish(id, .alreadyLoggedOut) } catch {
              // The account stays in the list of those that leave. The next opening tries again.
            }
          }
        })
    }
    if setup.followsOthers {
      let (store, runtime) = (store, runtime)
      tasks.append(
        runtime.spawn {
          while !Task.isCancelled, let changes = store.journal.changes() {
            do throws(AccountsError) {
              _ = try await runtime.result { () throws(AccountsError) in try store.read() }
            } catch {
              // The next caller receives it.
              return
            }
            await changes.wait(atMost: changes.longestWait)
          }
        })
    }
    work.withLock { $0 = tasks }
  }
}
