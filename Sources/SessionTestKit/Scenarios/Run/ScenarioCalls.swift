import Foundation
import SessionCore
import SessionKit
import Synchronization

/// The sessions of a scenario and what was asked of them.
final class ScenarioCalls: Sendable {
  /// How a call ended: `ok` or the error's name, and words about it.
  struct Ending: Sendable {
    var error: String?
    var words: ScenarioWords.Words = [:]
    /// What people could read of it.
    var text = ""
  }

  private struct State {
    var sessions: [String: Session] = [:]
    /// The sequences of the events that a subscriber in each process heard, from the first.
    var heard: [String: [UInt64]] = [:]
    var endings: [Int: Ending] = [:]
    /// In the order in which they ended.
    var ended: [Int] = []
    /// How many changes of the user are not sent.
    var pending = 0
    /// The pages that were opened in each process, in their order.
    var pages: [String: [HeadlessPage]] = [:]
    /// How often the app's data was cleared.
    var cleared = 0
  }

  private let state = Mutex(State())
  private let world: SimulatedWorld
  private let identity: ScenarioIdentity

  /// No session yet.
  init(in world: SimulatedWorld, _ identity: ScenarioIdentity) {
    (self.world, self.identity) = (world, identity)
  }

  /// How many changes of the user are not sent.
  var pending: Int {
    get { state.withLock { $0.pending } }
    set { state.withLock { $0.pending = newValue } }
  }

  /// How often the app's data was cleared.
  var cleared: Int { state.withLock { $0.cleared } }

  /// The configuration of an app that tells of its changes and clears its data.
  func hosted(_ configuration: SessionConfiguration) -> SessionConfiguration {
    var configuration = configuration
    configuration.pendingChanges = { [self] in pending }
    configuration.clearLocalData = { [self] _ in state.withLock { $0.cleared += 1 } }
    return configuration
  }

  /// The page that is shown in a process.
  func page(_ process: String) -> HeadlessPage? {
    state.withLock { $0.pages[process]?.last { $0.isShown } }
  }

  func session(_ process: String) -> Session? { state.withLock { $0.sessions[process] } }

  func ending(_ call: Int) -> Ending? { state.withLock { $0.endings[call] } }

  /// The calls that have ended, in their order.
  var ended: [Int] { state.withLock { $0.ended } }

  /// What a subscriber heard since the session was opened last, history first.
  func heard(_ process: String) -> [UInt64] { state.withLock { $0.heard[process] ?? [] } }

  /// Opens a session, or throws what kept it from being opened.
  func open(_ configuration: SessionConfiguration, in process: String) async throws(SessionError) {
    let session = try await Session.open(configuration)
    state.withLock { ($0.sessions[process], $0.heard[process]) = (session, []) }
    let events = session.events(after: 0)
    world.spawn("a subscriber in \(process)") { [self] in
      for try await event in events { state.withLock { $0.heard[process]?.append(event.sequence) } }
    }
  }

  /// Does a command and notes how it ends.
  func perform(
    _ call: Int, _ command: ScenarioStep.Command, in process: String,
    _ configuration: SessionConfiguration, _ users: [String: ScenarioUser]
  ) async {
    var ending = Ending()
    do throws(SessionError) {
      ending.words = try await result(of: command, in: process, configuration, users)
    } catch {
      ending = Ending(
        error: ScenarioWords.name(error), words: ScenarioWords.of(error), text: "\(error)")
    }
    state.withLock { state in
      state.endings[call] = ending
      state.ended.append(call)
    }
  }

  private func result(
    of command: ScenarioStep.Command, in process: String, _ configuration: SessionConfiguration,
    _ users: [String: ScenarioUser]
  ) async throws(SessionError) -> ScenarioWords.Words {
    if command == .open {
      try await open(configuration, in: process)
      return [:]
    }
    guard let session = session(process) else { throw .closed }
    switch command {
    case .open: return [:]
    case .close:
      state.withLock { $0.sessions[process] = nil }
      try await session.close()
      return [:]
    case .login(let name):
      let user = users[name] ?? ScenarioUser(name: "", password: "")
      let profile = try await session.login(
        PasswordCredentials(userName: user.name, password: Secret(user.password)))
      return ["user": profile.map { "\($0.id)" } ?? "none"]
    case .refresh: return ["token": try await session.refresh().value.value]
    case .refreshIfNeeded: return ["token": try await session.refreshIfNeeded().value.value]
    case .switchContext(let role, let school, let unit):
      let context = try await session.switchContext(
        to: ContextTarget(
          role: Identifier(role), school: school.map { Identifier($0) },
          unit: unit.map { Identifier($0) }))
      return ["role": context.map { "\($0.role.id)" } ?? "none"]
    case .register(let name):
      let user = users[name] ?? ScenarioUser(name: "", password: "")
      let account = NewAccount(
        PasswordCredentials(userName: user.name, password: Secret(user.password)))
      return ScenarioWords.of(try await session.register(account))
    case .social(let provider, let token):
      let profile = try await session.login(provider: provider, token: Secret(token))
      return ["user": profile.map { "\($0.id)" } ?? "none"]
    case .unlock: return ["state": "\(try await session.unlock().kind)"]
    case .foreground:
      try await session.enterForeground()
      return ["state": "\(session.state.kind)"]
    case .use: return ["token": session.currentToken?.value.value ?? "none"]
    case .logout(let isDiscarding):
      let outcome = try await session.logout(discardingPendingChanges: isDiscarding)
      return ["outcome": ScenarioWords.outcome(outcome)]
    case .page:
      let page = HeadlessPage(identity.browser)
      state.withLock { $0.pages[process, default: []].append(page) }
      let profile = try await session.signIn(with: identity.provider, in: page)
      return ["user": profile.map { "\($0.id)" } ?? "none"]
    case .silently:
      let profile = try await session.signInSilently(with: identity.provider)
      return ["user": profile.map { "\($0.id)" } ?? "none"]
    case .redirect(let address):
      guard let url = URL(string: address) else { return ["outcome": "refused"] }
      return ["outcome": await session.handIn(url) ? "taken" : "refused"]
    case .clearError:
      await session.clearError()
      return [:]
    case .call(let method, let path):
      let url = configuration.wire.baseURL.appending(path: path)
      let calls = session.calls(by: TransportCalls(configuration.transport))
      do {
        let answer = try await calls.send(HTTPRequest(method: method, url: url))
        return ["status": "\(answer.status)"]
      } catch {
        throw SessionError(ofCall: error)
      }
    case .adopt(let access, let refresh):
      let adoption = try await session.adopt(
        AdoptedTokens(access: Secret(access), refresh: refresh.map { Secret($0) }))
      return ["outcome": "\(adoption)"]
    }
  }
}
