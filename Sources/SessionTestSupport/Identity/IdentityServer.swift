package import Foundation
package import SessionTestKit
import Synchronization

/// A ``LoopbackIdentity`` on a real socket of 127.0.0.1.
package final class IdentityServer: Sendable {
  private let service: IdentityService
  private let server: LoopbackServer

  /// Starts to listen on a port that the system chooses.
  package init(_ identity: LoopbackIdentity) throws(LoopbackError) {
    service = IdentityService(identity)
    server = try LoopbackServer.start(service: service, clock: LoopbackServer.systemTime)
  }

  /// The address of the server.
  package var baseURL: URL { server.baseURL }
  /// The address of the user flow, which apps use.
  package var userFlow: URL {
    server.baseURL.appending(path: String(LoopbackIdentity.path.dropFirst()))
  }
  /// The current state of the provider.
  package var identity: LoopbackIdentity { service.state.withLock { $0.identity } }

  /// Changes the provider's state between two requests.
  package func change(_ change: (inout LoopbackIdentity) -> Void) {
    service.state.withLock { change(&$0.identity) }
  }

  /// Ends all connections, and frees the port.
  package func stop() { server.stop() }
}

/// A service that answers each request at once.
private final class IdentityService: LoopbackService {
  struct State {
    var identity: LoopbackIdentity
    var answers: [Int: SentResponse] = [:]
  }

  let state: Mutex<State>

  init(_ identity: LoopbackIdentity) {
    state = Mutex(State(identity: identity))
  }

  func receive(_ request: ReceivedRequest, number: Int) {
    let now = LoopbackServer.systemTime()
    state.withLock { $0.answers[number] = $0.identity.answer(request, now: now) }
  }

  func fate(ofRequest number: Int) -> LoopbackFate? {
    state.withLock { $0.answers.removeValue(forKey: number) }.map { .answer($0) }
  }
}
