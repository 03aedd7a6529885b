import Foundation
@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit

/// The app's own part of sending changes: the request for a change, and the meaning of an answer.
enum ScenarioChangeApp {
  /// Returns the request for a change: an entity's path and a method, or a custom request; with its
  /// key.
  static func request(of change: Change, at base: URL) -> HTTPRequest {
    func request(_ method: String, _ path: String, _ body: [UInt8] = []) -> HTTPRequest {
      var request = HTTPRequest(method: method, url: base.appending(path: path))
      if !body.isEmpty { request.body = body }
      return request
    }
    var request =
      switch change {
      case .create(let edit): request("POST", edit.entity.path, edit.content)
      case .update(let edit): request("PUT", edit.entity.path, edit.content)
      case .delete(let deletion): request("DELETE", deletion.entity.path)
      case .request(let own): request(own.method, own.path, own.body)
      }
    if request.body != nil {
      request.headers.append(HTTPHeader("Content-Type", "application/json"))
    }
    request.headers.append(HTTPHeader("Idempotency-Key", change.key.description))
    return request
  }

  /// Returns the meaning of an answer: done, later, or refused.
  ///
  /// For a deletion, 404 means done.
  static func outcome(of response: HTTPResponse, to change: Change) -> SendOutcome {
    switch response.status {
    case 200..<300: return .done
    case 404 where change.isDelete: return .done
    case 401: return .notReached("the session is over")
    case 408, 425, 429, 500...:
      let seconds = response.header("Retry-After").flatMap { Int64($0) }
      return .tryLater("status \(response.status)", after: seconds.map { .seconds($0) })
    default: return .refused("status \(response.status)")
    }
  }

  /// Creates the change that a file describes; `nil` if its key or its path is invalid.
  static func change(_ change: ScenarioChange) -> Change? {
    guard let key = UUID(uuidString: change.key) else { return nil }
    let content = Array((change.content ?? "").utf8)
    switch change.action {
    case .entity(.create, let entity):
      return .create(entity, content: content, mentions: change.mentions, key: key)
    case .entity(.update, let entity):
      return .update(entity, content: content, mentions: change.mentions, key: key)
    case .entity(.delete, let entity): return .delete(entity, key: key)
    case .request(let method, let path):
      let type = content.isEmpty ? nil : "application/json"
      return Change.Request(method, path, contentType: type, body: content, key: key)
        .map { .request($0) }
    }
  }
}

extension Change {
  fileprivate var isDelete: Bool {
    if case .delete = self { true } else { false }
  }
}
