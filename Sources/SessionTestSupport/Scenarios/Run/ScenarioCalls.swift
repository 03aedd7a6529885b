import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJSON
import SessionKit
import SessionMessages
import SessionTestKit
import SessionWebSignIn
import Synchronization

/// The sessions of a scenario, and the commands given to them.
final class ScenarioCalls: Sendable {
  /// The result of a command: `ok` or the error's name, and words about it.
  struct Ending: Sendable {
    var error: String?
    var words: ScenarioWords.Words = [:]
    /// The text of the error, which must contain no secret.
    var text = ""
  }

  private struct State {
    var sessions: [String: Session] = [:]
    /// The change logs of the processes that have one.
    var logs: [String: ChangeLog] = [:]
    /// The tasks that send changes; they end with their session.
    var senders: [String: [Task<Void, Never>]] = [:]
    /// The values of its gate that each process has received.
    var gates: [String: [Bool]] = [:]
    /// The sessions of killed processes, kept so that they are not closed.
    var dead: [(Session, ChangeLog?)] = []
    /// The sequences of the events that a subscriber in each process received, from the first.
    var heard: [String: [UInt64]] = [:]
    var endings: [Int: Ending] = [:]
    /// The calls that have ended, in order.
    var ended: [Int] = []
    /// The number of the user's changes that are not sent.
    var pending = 0
    /// The pages that were opened in each process, in order.
    var pages: [String: [HeadlessPage]] = [:]
    /// The number of times that the app's data was cleared.
    var cleared = 0
    /// The number of notifications that a user's status has changed.
    var news = 0
  }

  private let state = Mutex(State())
  private let world: SimulatedWorld
  private let identity: ScenarioIdentity

  /// Creates a value without sessions.
  init(in world: SimulatedWorld, _ identity: ScenarioIdentity) {
    (self.world, self.identity) = (world, identity)
  }

  /// The number of the user's changes that are not sent.
  var pending: Int {
    get { state.withLock { $0.pending } }
    set { state.withLock { $0.pending = newValue } }
  }

  func log(_ process: String) -> ChangeLog? { state.withLock { $0.logs[process] } }

  /// Returns the last value of its gate that a process received.
  func toldGate(_ process: String) -> Bool? { state.withLock { $0.gates[process]?.last } }

  /// Forgets the session of a killed process without closing it.
  func bury(_ process: String) {
    state.withLock { state in
      if let session = state.sessions.removeValue(forKey: process) {
        state.dead.append((session, state.logs.removeValue(forKey: process)))
      }
      state.senders[process] = nil
    }
  }

  /// Keeps a task that sends changes, so that the session's close can wait for it.
  func keep(_ sender: Task<Void, Never>, in process: String) {
    state.withLock { $0.senders[process, default: []].append(sender) }
  }

  /// The number of times that the app's data was cleared.
  var cleared: Int { state.withLock { $0.cleared } }

  /// The number of notifications that a user's status has changed.
  var news: Int { state.withLock { $0.news } }

  /// Returns the configuration with hooks that report pending changes and clear the app's data.
  func hosted(_ configuration: SessionConfiguration) -> SessionConfiguration {
    var configuration = configuration
    configuration.add(
      host: SessionHooks(
        pendingChanges: { [self] in pending },
        clearLocalData: { [self] _ in state.withLock { $0.cleared += 1 } },
        statusChanged: { [self] _ in state.withLock { $0.news += 1 } }))
    return configuration
  }

  /// Returns the page that is shown in a process; `nil` if there is none.
  func page(_ process: String) -> HeadlessPage? {
    state.withLock { $0.pages[process]?.last { $0.isShown } }
  }

  func session(_ process: String) -> Session? { state.withLock { $0.sessions[process] } }

  func ending(_ call: Int) -> Ending? { state.withLock { $0.endings[call] } }

  /// The calls that have ended, in order.
  var ended: [Int] { state.withLock { $0.ended } }

  /// Returns the sequences that a subscriber received since the session was last opened, history
  /// included.
  func heard(_ process: String) -> [UInt64] { state.withLock { $0.heard[process] ?? [] } }

  /// The settings with which a process opens the app.
  struct App: Sendable {
    var configuration: SessionConfiguration
    /// The path and the setup of its change log; `nil` if it has none.
    var changes: (path: String, setup: ChangeLog.Setup)?
    let life: ProcessLife
  }

  /// Opens the change log, if there is one, and then the session; throws if either fails.
  func open(_ app: App, in process: String) async throws {
    var configuration = app.configuration
    var log: ChangeLog?
    if let (path, setup) = app.changes {
      let opened = try await ChangeLog.open(at: path, setup)
      configuration.attach(opened)
      log = opened
    }
    let session: Session
    do throws(SessionError) { session = try await Session.open(configuration) } catch {
      try await log?.close()
      throw error
    }
    state.withLock { state in
      (state.sessions[process], state.logs[process]) = (session, log)
      (state.heard[process], state.gates[process]) = ([], [])
    }
    let (events, gate) = (session.events(after: 0), session.gate.values)
    world.spawn("a subscriber in \(process)", of: app.life) { [self] in
      for try await event in events { state.withLock { $0.heard[process]?.append(event.sequence) } }
    }
    world.spawn("who looks at the gate in \(process)", of: app.life) { [self] in
      for await isOpen in gate { state.withLock { $0.gates[process]?.append(isOpen) } }
    }
  }

  /// Closes the session, waits for the tasks that send changes, and then closes the change log.
  func close(_ process: String) async throws {
    let (session, log, senders) = state.withLock { state in
      let senders = state.senders.removeValue(forKey: process) ?? []
      let parts = (
        state.sessions.removeValue(forKey: process), state.logs.removeValue(forKey: process)
      )
      return (parts.0, parts.1, senders)
    }
    guard let session else { throw SessionError.closed }
    try await session.close()
    for sender in senders { await sender.value }
    try await log?.close()
  }

  /// Performs a command and records its result.
  func perform(
    _ call: Int, _ command: ScenarioCommand, in process: String, _ app: App,
    _ users: ScenarioUsers
  ) async {
    var ending = Ending()
    do {
      if let words = try await changed(by: command, in: process, app) {
        ending.words = words
      } else {
        ending.words = try await result(of: command, in: process, app, users)
      }
    } catch let error as SessionError {
      ending = Ending(
        error: error.failure.name, words: ScenarioWords.of(error, said: app.configuration.words),
        text: "\(error)")
    } catch let error as ChangeLogError {
      ending = Ending(
        error: ScenarioWords.name(error), words: ScenarioWords.of(error), text: "\(error)")
    } catch {
      ending = Ending(error: "\(error)", text: "\(error)")
    }
    state.withLock { state in
      state.endings[call] = ending
      state.ended.append(call)
    }
  }

  private func result(
    of command: ScenarioCommand, in process: String, _ app: App, _ users: ScenarioUsers
  ) async throws -> ScenarioWords.Words {
    guard let session = session(process) else { throw SessionError.closed }
    switch command.verb {
    case "login":
      let user = try command.user(of: users)
      return words(try await session.login(.password(user.name, user.password)))
    case "refresh": return ["token": try await session.refresh().plaintext]
    case "refreshIfNeeded": return ["token": try await session.accessToken().plaintext]
    case "switch":
      let school = command.words.count > 2 ? Identifier(command.words[2]) : nil
      let context = try await session.switchContext(
        to: ContextTarget(role: Identifier(try command.word(1)), school: school))
      return ["role": context.map { "\($0.role.id)" } ?? "none"]
    case "register":
      let user = try command.user(of: users)
      return ScenarioWords.registered(
        try await session.login(.registration(user.name, user.password)))
    case "social":
      let (provider, token) = (try command.word(1), Secret(try command.word(2)))
      return words(try await session.login(.provider(provider, token: token)))
    case "unlock": return ["state": "\(try await session.unlock().kind)"]
    case "foreground":
      try await session.enterForeground()
      return ["state": "\(session.state.kind)"]
    case "use": return ["token": session.currentToken?.plaintext ?? "none"]
    case "logout":
      let isDiscarding = command.words.last == "discarding"
      let outcome = try await session.logout(discardingPendingChanges: isDiscarding)
      return ["outcome": ScenarioWords.outcome(outcome)]
    case "page":
      let page = HeadlessPage(identity.browser)
      state.withLock { $0.pages[process, default: []].append(page) }
      return words(try await session.login(.provider(identity.provider, in: page)))
    case "silently":
      return words(try await session.login(.silently(with: identity.provider)))
    case "redirect":
      guard let url = URL(string: try command.word(1)) else { return ["outcome": "refused"] }
      return ["outcome": await session.handle(url) ? "taken" : "refused"]
    case "clearError":
      await session.clearError()
      return [:]
    case "call":
      let url = app.configuration.http.baseURL.appending(path: try command.word(2))
      let request = HTTPRequest(method: try command.word(1), url: url)
      let calls = session.calls(by: TransportCalls(app.configuration.http.transport))
      let isPlain = command.words.last == "plain"
      do {
        let response = try await calls.send(request, as: isPlain ? .plain : .byRules)
        return ["status": "\(response.status)"]
      } catch {
        throw SessionError(ofCall: error)
      }
    case "adopt":
      let refresh = command.words.count > 2 ? Secret(command.words[2]) : nil
      let isAdopted = try await session.adopt(
        AdoptedTokens(access: Secret(try command.word(1)), refresh: refresh))
      return ["outcome": isAdopted ? "adopted" : "settledBefore"]
    case let verb: throw ScenarioProblem("\"\(verb)\" is not a command")
    }
  }

  /// Returns the words for the user of a login.
  private func words(_ result: LoginResult) -> ScenarioWords.Words {
    ["user": result.user.map { "\($0.id)" } ?? "none"]
  }
}

/// The user names and passwords of those who may log in.
typealias ScenarioUsers = [String: (name: String, password: String)]

/// A command of the app to its session: the words after `do`, and the lines below it.
struct ScenarioCommand: Sendable {
  var words: [String]
  /// The content of a change as JSON text.
  private(set) var content: String?
  /// The entities that a change mentions.
  private(set) var mentions: [String] = []

  init(_ line: ScenarioLine) throws(ScenarioProblem) {
    _ = try line.word(1)
    words = Array(line.words.dropFirst())
    for detail in line.details {
      if detail.words[0] == "json" {
        content = try detail.json().value.text
      } else {
        mentions += detail.words.dropFirst()
      }
    }
  }

  var verb: String { words[0] }

  /// Whether the command names a change by its key.
  var isChange: Bool { verb == "add" || verb == "discard" }

  /// Whether the command sends changes; such a command ends with its session.
  var isSending: Bool { verb == "drain" || verb == "sync" }

  func word(_ index: Int) throws(ScenarioProblem) -> String {
    guard words.indices.contains(index) else {
      throw ScenarioProblem("\"\(verb)\" needs a further word")
    }
    return words[index]
  }

  func user(of users: ScenarioUsers) throws(ScenarioProblem) -> (name: String, password: String) {
    guard let user = users[try word(1)] else { throw ScenarioProblem("there is no such user") }
    return user
  }
}

/// The identity SDK of a scenario and the device's browser; the state of both is shared by
/// processes.
struct ScenarioIdentity: Sendable {
  let browser: HeadlessBrowser
  let provider: CodeFlowProvider<HeadlessPage>
  /// Whether the SDK keeps the refresh token.
  let isOwned: Bool

  init(_ setting: ScenarioSetting, on stage: ScenarioStage) {
    let browser = HeadlessBrowser(stage.network.line(of: "page"))
    self.browser = browser
    isOwned = setting.isOwned
    provider = CodeFlowProvider(
      setting.identity(at: stage.baseURL),
      accounts: IdentityAccounts(keepsTokens: setting.isOwned, seed: 0x1D),
      transport: stage.network.line(of: "page")
    ) { try await browser.hidden($0, until: $1) }
  }
}
