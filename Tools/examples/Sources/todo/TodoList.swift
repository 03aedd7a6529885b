import Foundation
import SessionChanges
import SessionHTTP
import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A to-do in the service's format.
///
/// `version` is the version that the app read. The service rejects an edit of any other version.
struct Todo: Codable {
  let id: String
  var title: String
  var version = 0
}

/// The user's to-dos: those of the service, and the changes that wait.
struct TodoList: Sendable {
  let session: Session
  let changes: ChangeLog
  private let todos: URL

  init(session: Session, changes: ChangeLog, service: URL) {
    (self.session, self.changes) = (session, changes)
    todos = service.appending(path: "v2/todos")
  }

  /// Adds or edits a to-do, with or without a network; the change is durable when this returns.
  func save(_ todo: Todo) async throws {
    let entity = EntityReference("todo", Identifier(todo.id))
    let content = Array(try JSONEncoder().encode(todo))
    try await changes.add(
      todo.version == 0 ? .create(entity, content: content) : .update(entity, content: content),
      through: session.gate)
  }

  func fetch() async throws -> [Todo] {
    let (data, _) = try await session.data(for: URLRequest(url: todos))
    return try JSONDecoder().decode([Todo].self, from: data)
  }

  /// Sends all waiting changes, even postponed ones, since the user asked for it.
  func send() async throws -> DrainResult {
    try await changes.drain(through: session.gate, ignoresBackoff: true) { await send($0.change) }
  }

  private func send(_ change: Change) async -> SendOutcome {
    switch change {
    case .create(let edit), .update(let edit): await put(edit)
    case .delete, .request: .refused("this app makes no such changes")
    }
  }

  private func put(_ edit: Change.Edit) async -> SendOutcome {
    var request = URLRequest(url: todos.appending(path: "\(edit.entity.id)"))
    request.httpMethod = "PUT"
    request.httpBody = Data(edit.content)
    request.setValue("\(edit.key)", forHTTPHeaderField: "Idempotency-Key")
    do throws(SessionError) {
      let (_, response) = try await session.data(for: request)
      switch (response as? HTTPURLResponse)?.statusCode ?? 0 {
      case 200...299: return .done
      case 409: return .refused("edited elsewhere")
      case let status: return .tryLater("status \(status)")
      }
    } catch {
      // Without an answer, the change keeps its place and its key, and the attempt is not counted.
      return .notReached("\(error.code)")
    }
  }
}
