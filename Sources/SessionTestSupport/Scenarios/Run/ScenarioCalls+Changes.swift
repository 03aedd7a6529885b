import SessionChanges
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
