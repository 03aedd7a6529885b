import Foundation
import SessionAccounts
import SessionChanges
import SessionHTTP
import Synchronization

/// The accounts of the app, with a list of to-dos for each.
final class TodoAccounts: Sendable {
  let accounts: Accounts
  private let logs: Logs
  private let (folder, service): (URL, URL)

  /// The change logs that are open.
  private final class Logs: Sendable { let all = Mutex<[Account.ID: ChangeLog]>([:]) }

  init(in folder: URL, service: URL) async throws {
    let logs = Logs()
    // configuration
    accounts = try await Accounts.open(directory: folder) { account, directory in
      var configuration = SessionConfiguration(
        directory: directory, backend: HTTPBackend.todo(service),
        service: "org.example.todo.\(account.id)")
      if let changes = logs.all.withLock({ $0[account.id] }) { configuration.attach(changes) }
      return configuration
    }
    // end of configuration
    (self.logs, self.folder, self.service) = (logs, folder, service)
  }

  /// Opens the list of an account.
  ///
  /// The log is opened first, because the session asks it.
  func list(of id: Account.ID) async throws -> TodoList {
    let path = logPath(id)
    try FileManager.default.createDirectory(
      at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
    let changes = try await ChangeLog.open(at: path.path)
    logs.all.withLock { $0[id] = changes }
    return TodoList(
      session: try await accounts.session(of: id), changes: changes, service: service)
  }

  /// Removes an account with its changes; the user was asked about unsent ones.
  func remove(_ id: Account.ID) async throws -> LogoutOutcome {
    let outcome = try await accounts.remove(id, discardingPendingChanges: true)
    try await logs.all.withLock { $0.removeValue(forKey: id) }?.close()
    // The library removes what is its own, later if the server could not be told. The log is the app's.
    try await ChangeLog.remove(at: logPath(id).path)
    if accounts.list.leaving.isEmpty {
      try FileManager.default.removeItem(at: logPath(id).deletingLastPathComponent())
    }
    return outcome
  }

  func close() async throws {
    try await accounts.close()
    for log in logs.all.withLock({ $0.values.map { $0 } }) { try await log.close() }
  }

  private func logPath(_ id: Account.ID) -> URL {
    folder.appending(path: "\(id)/changes.journal")
  }
}
