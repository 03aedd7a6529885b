import Foundation
@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit

/// The app's use of its change log, only through the library's public functions.
extension ScenarioCalls {
  /// Performs a command about changes or the whole app, and returns its result; `nil` for other
  /// commands.
  func changed(
    by command: ScenarioStep.Command, in process: String, _ app: App
  ) async throws -> ScenarioWords.Words? {
    switch command {
    case .open:
      try await open(app, in: process)
      return [:]
    case .close:
      try await close(process)
      return [:]
    case .add(let change):
      let (session, log) = try parts(process)
      guard let change = ScenarioChangeApp.change(change) else { throw SessionError.closed }
      return ["waiting": "\(try await log.add(change, through: session.gate))"]
    case .drain:
      let (session, log) = try parts(process)
      return ScenarioWords.of(try await drain(log, session, app), at: app.configuration.clock.now())
    case .sync:
      let (session, log) = try parts(process)
      var sent = 0
      for await isOpen in session.gate.values where isOpen {
        sent += try await drain(log, session, app).acknowledged
      }
      return ["sent": "\(sent)"]
    case .discard(let key):
      let (_, log) = try parts(process)
      try await log.discard(Identifier(key))
      return ["waiting": "\(log.queue.pending.count)"]
    default: return nil
    }
  }

  private func parts(_ process: String) throws(SessionError) -> (Session, ChangeLog) {
    guard let session = session(process), let log = log(process) else { throw .closed }
    return (session, log)
  }

  /// Sends the waiting changes with the session's token.
  private func drain(
    _ log: ChangeLog, _ session: Session, _ app: App
  ) async throws(ChangeLogError) -> DrainResult {
    let calls = session.calls(by: TransportCalls(app.configuration.http.transport))
    let base = app.configuration.http.baseURL
    return try await log.drain(through: session.gate) { waiting in
      do {
        let response = try await calls.send(
          ScenarioChangeApp.request(of: waiting.change, at: base))
        return ScenarioChangeApp.outcome(of: response, to: waiting.change)
      } catch {
        return .notReached(SessionError(ofCall: error).description)
      }
    }
  }
}

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
