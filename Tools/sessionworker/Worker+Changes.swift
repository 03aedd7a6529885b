import Foundation
import SessionChanges
import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Offline changes of an app, and sending them.
extension Worker {
  /// A change in the format that the server records.
  fileprivate struct Sent: Codable {
    var what: String
    var text: String
  }

  /// Adds a change: `create task/1 TEXT KEY`, or `POST /notes TEXT KEY`; a text has no spaces.
  func change(_ words: [String], through gate: SyncGate) async throws {
    let log = try log()
    guard let key = UUID(uuidString: words[3]) else {
      throw Refusal(description: "the key is no UUID")
    }
    let content = Array(words[2].utf8)
    let parts = words[1].split(separator: "/").map(String.init)
    let change: Change
    switch words[0] {
    case "create", "update", "delete":
      guard parts.count == 2 else { throw Refusal(description: "an entity is as task/1") }
      let entity = EntityReference(parts[0], Identifier(parts[1]))
      change =
        switch words[0] {
        case "create": .create(entity, content: content, key: key)
        case "update": .update(entity, content: content, key: key)
        default: .delete(entity, key: key)
        }
    default:
      guard let request = Change.Request(words[0], words[1], body: content, key: key) else {
        throw Refusal(description: "this is no request")
      }
      change = .request(request)
    }
    try await log.add(change, through: gate)
  }

  /// Sends the waiting changes to `/changes`; returns how many the server accepted.
  func sync(_ session: Session) async throws -> Int? {
    let (log, api) = (try log(), SessionInterceptor(session))
    let url = server.appending(path: "changes")
    let drained = try await log.drain(through: session.gate) { waiting in
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.setValue(waiting.change.key.description, forHTTPHeaderField: "Idempotency-Key")
      do {
        // A repetition with the same key must have exactly the same bytes.
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        request.httpBody = try encoder.encode(Sent(waiting.change))
        let (_, response) = try await api.data(for: request)
        switch (response as? HTTPURLResponse)?.statusCode ?? 0 {
        case 200..<300: return .done
        case 429, 500...: return .tryLater("the server cannot")
        case 401: return .notReached("the session is over")
        case let status: return .refused("status \(status)")
        }
      } catch {
        return .notReached("\(error)")
      }
    }
    return drained.acknowledged
  }
}

extension Worker.Sent {
  fileprivate init(_ change: Change) {
    func path(_ entity: EntityReference) -> String { "\(entity.type)/\(entity.id)" }
    switch change {
    case .create(let edit):
      what = "create \(path(edit.entity))"
      text = String(decoding: edit.content, as: UTF8.self)
    case .update(let edit):
      what = "update \(path(edit.entity))"
      text = String(decoding: edit.content, as: UTF8.self)
    case .delete(let deletion):
      what = "delete \(path(deletion.entity))"
      text = ""
    case .request(let request):
      what = "\(request.method) \(request.path)"
      text = String(decoding: request.body, as: UTF8.self)
    }
  }
}
