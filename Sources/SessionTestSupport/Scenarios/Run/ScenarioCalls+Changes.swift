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
    by command: ScenarioCommand, in process: String, _ app: App
  ) async throws -> ScenarioWords.Words? {
    switch command.verb {
    case "open":
      try await open(app, in: process)
      return [:]
    case "close":
      try await close(process)
      return [:]
    case "add":
      let (session, log) = try parts(process)
      let change = try ScenarioChangeApp.change(command)
      return ["waiting": "\(try await log.add(change, through: session.gate))"]
    case "drain":
      let (session, log) = try parts(process)
      return ScenarioWords.of(try await drain(log, session, app), at: app.configuration.clock.now())
    case "sync":
      let (session, log) = try parts(process)
      var sent = 0
      for await isOpen in session.gate.values where isOpen {
        sent += try await drain(log, session, app).acknowledged
      }
      return ["sent": "\(sent)"]
    case "discard":
      let (_, log) = try parts(process)
      try await log.discard(Identifier(try command.word(1)))
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
    func path(_ entity: EntityReference) -> String { "\(entity.type)/\(entity.id)" }
    var request =
      switch change {
      case .create(let edit): request("POST", path(edit.entity), edit.content)
      case .update(let edit): request("PUT", path(edit.entity), edit.content)
      case .delete(let deletion): request("DELETE", path(deletion.entity))
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

  /// Creates the change that a file describes: `create task/5f1c KEY` or `POST /notes KEY`.
  static func change(_ command: ScenarioCommand) throws -> Change {
    let (action, target) = (try command.word(1), try command.word(2))
    let content = Array((command.content ?? "").utf8)
    guard let key = UUID(uuidString: try command.word(3)) else {
      throw ScenarioProblem("a key has the form <K1>")
    }
    let mentions = try command.mentions.map(entity)
    switch action {
    case "create":
      return .create(try entity(target), content: content, mentions: mentions, key: key)
    case "update":
      return .update(try entity(target), content: content, mentions: mentions, key: key)
    case "delete": return .delete(try entity(target), key: key)
    default:
      let type = content.isEmpty ? nil : "application/json"
      guard
        let request = Change.Request(action, target, contentType: type, body: content, key: key)
      else { throw ScenarioProblem("this is not the path of a request") }
      return .request(request)
    }
  }

  private static func entity(_ path: String) throws(ScenarioProblem) -> EntityReference {
    let parts = path.split(separator: "/")
    guard parts.count == 2 else { throw ScenarioProblem("an entity has the form task/5f1c") }
    return EntityReference(String(parts[0]), Identifier(String(parts[1])))
  }
}

extension Change {
  fileprivate var isDelete: Bool {
    if case .delete = self { true } else { false }
  }
}
