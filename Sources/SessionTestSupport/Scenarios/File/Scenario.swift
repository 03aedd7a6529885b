@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore

/// A flow of one app, described in a text file.
///
/// It contains the acts of the user and the answers of the server with their times. It lists the
/// resulting requests, events and states.
///
/// ```swift
/// let scenario = try Scenario(text, file: "Specs/Scenarios/edu-day.scenario")
/// try await scenario.runSimulated(Choices(seed: 7))  // a simulated world, its schedule by draws
/// try await scenario.runOverLoopback()               // real sockets, real files
/// ```
/// Specs/Scenarios/README.md describes the grammar.
///
/// - Requirement: TST-2
package struct Scenario: Sendable {
  /// The greatest number of events that a file can name for one interval of time.
  static let mostEvents = 400

  /// The file's name, as the caller gave it.
  package let file: String
  /// A line that says what happens.
  package let title: String
  /// The requirements that it proves.
  package let requirements: [String]
  let setting: ScenarioSetting
  let steps: [ScenarioStep]

  /// Parses a scenario.
  ///
  /// - Parameters:
  ///   - text: The file's text.
  ///   - file: The file's name in errors.
  /// - Throws: The first error of the text.
  package init(_ text: String, file: String) throws {
    var parser = ScenarioParser(text, file: file)
    self = try parser.parse()
  }

  init(
    file: String, title: String, requirements: [String], setting: ScenarioSetting,
    steps: [ScenarioStep]
  ) {
    self.file = file
    self.title = title
    self.requirements = requirements
    self.setting = setting
    self.steps = steps
  }
}

/// A line of a scenario, with the lines that are indented below it.
struct ScenarioStep: Sendable {
  /// A word and its expected value: a text, `*`, or a token's name.
  struct Field: Hashable, Sendable {
    let name: String
    let value: String
  }

  /// A command of the app to its session.
  enum Command: Hashable, Sendable {
    case open
    case close
    case login(String)
    case refresh
    case refreshIfNeeded
    case switchContext(role: String, school: String?, unit: String?)
    case logout(isDiscarding: Bool)
    case register(String)
    case social(provider: String, token: String)
    case unlock
    case foreground
    case clearError
    /// A protected call, unless it is marked as plain.
    case call(method: String, path: String, isPlain: Bool)
    /// Adopts the tokens of the app's old layer.
    case adopt(access: String, refresh: String?)
    /// Reads the current token, as a call does before it is sent.
    case use
    /// Adds a change to the change log.
    case add(ScenarioChange)
    /// Sends the waiting changes.
    case drain
    /// Sends the waiting changes each time the gate opens, until the session is closed.
    case sync
    /// Discards a change.
    case discard(key: String)
    /// Logs in on the identity provider's page, or silently if that is possible.
    case page
    /// Logs in silently; fails if that is not possible.
    case silently
    /// Gives the app a redirect that did not come through the page.
    case redirect(String)
  }

  /// An act of the user on the page that is shown.
  enum PageAct: Hashable, Sendable {
    /// Types this user's name and password, and submits the form.
    case types(String)
    /// Follows the link for a forgotten password.
    case forgets
    /// Follows the link that cancels the sign-in.
    case cancels
    /// Closes the view.
    case leaves
  }

  /// The result of a command.
  enum Ending: Hashable, Sendable {
    case ok
    case error(String)
  }

  enum Action: Sendable {
    /// Time advances to this, in milliseconds since the start; nothing may happen before.
    case at(Int64)
    /// Time advances to this; the next lines name what happens before.
    case until(Int64)
    case clock(by: Int64)
    case network(isOn: Bool)
    case secrets(isLocked: Bool)
    /// The journal's file is removed, or its acknowledged bytes are damaged.
    case journal(isLost: Bool)
    case act(Command, label: String?)
    case page(PageAct)
    case request(ExpectedRequest)
    case answer(ScriptedAnswer, to: String?)
    case lost(to: String?)
    /// The server receives the request and never answers.
    case silent(to: String?)
    /// A token with three parts is made, with this lifetime in milliseconds and these claims.
    case token(String, life: Int64?, JSONTemplate)
    case event(String, [Field], times: Int)
    case note(String, [Field])
    case state(String, [Field])
    case shows([Field])
    case result(label: String?, Ending, [Field])
    case stored(Set<SecretItem>)
    /// This number of the user's changes is not sent.
    case pending(Int)
    /// The app's data was cleared this number of times since the start.
    case cleared(Int)
    /// A subscriber in the process has received this number of events, from the journal's first.
    case received(Int)
    /// The app was notified this number of times since the start that a user's status has changed.
    case news(Int)
    /// A process is killed.
    case kill(String)
    /// All processes are killed, and data that was not synced is lost.
    case powerCut
    /// One of the next records of the change log.
    case change(String, [Field])
    /// The changes that wait in the change log.
    case waiting(ScenarioChanges)
    /// The changes that were given up.
    case givenUp(ScenarioChanges)
  }

  let line: Int
  let process: String
  let action: Action
}

/// A request that the server must receive.
struct ExpectedRequest: Sendable {
  /// The expected `Authorization`; `nil` if there must be none.
  enum Authorization: Hashable, Sendable {
    case bearer(String)
    case basic(id: String, secret: String)
  }

  enum Body: Sendable {
    case json(JSONTemplate)
    case form([ScenarioStep.Field])
  }

  var method: String
  var path: String
  /// The expected query; `nil` if there must be none.
  var query: [ScenarioStep.Field]?
  var label: String?
  /// The name of the change's key in `Idempotency-Key`; `nil` if there must be none.
  var key: String?
  var authorization: Authorization?
  var headers: [ScenarioStep.Field] = []
  /// The expected body; `nil` if there must be none.
  var body: Body?
}

/// The answer of the server.
struct ScriptedAnswer: Sendable {
  enum Body: Sendable {
    case json(JSONTemplate)
    case html(String)
    /// A page with a form and links.
    case page(WebPage)
    case empty
  }

  var status: Int
  var headers: [ScenarioStep.Field] = []
  var body = Body.empty
}

/// A user who may log in.
struct ScenarioUser: Hashable, Sendable {
  let name: String
  let password: String
}

/// A change in a file: `create task/5f1c <K1>`, with its content in the lines below.
struct ScenarioChange: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case entity(Change.Operation, EntityReference)
    case request(method: String, path: String)
  }

  let action: Action
  /// The name of its key; the runner replaces it by the key.
  var key: String
  /// The content as JSON text.
  var content: String?
  var mentions: [EntityReference] = []
}

/// The expected changes.
enum ScenarioChanges: Hashable, Sendable {
  case count(Int)
  /// Exactly the changes with these keys, in this order.
  case keys([String])
}

extension EntityReference {
  /// Parses `task/5f1c`, or `north/task/5f1c` with a scope; `nil` if the text is neither.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts.allSatisfy({ $0.isEntityPart }) else { return nil }
    let scope = parts.count == 3 ? parts[0] : ""
    self.init(parts[parts.count - 2], Identifier(parts[parts.count - 1]), scope: scope)
  }

  /// The reference as text: `task/5f1c` or `north/task/5f1c`.
  var path: String { (scope.isEmpty ? "" : scope + "/") + "\(type)/\(id)" }
}

extension String {
  fileprivate var isEntityPart: Bool {
    !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }
}

/// An error in a scenario file, and its place.
package struct ScenarioError: Error, CustomStringConvertible {
  let file: String
  let line: Int
  let problem: String

  /// `FILE:LINE: problem`.
  package var description: String { "\(file):\(line): \(problem)" }
}

/// A line of a scenario that was not fulfilled; contains no token, password or e-mail address.
package struct ScenarioFailure: Error, Hashable, Sendable {
  /// The file's name, as the caller gave it.
  package let file: String
  /// The number of the line that failed, from 1.
  package let line: Int
  /// A sentence that says what the line requires, and what was found.
  package let problem: String
  /// The last things that happened before, the oldest first.
  package let before: [String]
}

extension ScenarioFailure: CustomStringConvertible {
  /// `FILE:LINE: problem`, and on the next lines what happened last.
  package var description: String {
    (["\(file):\(line): \(problem)"] + before.map { "  before: \($0)" }).joined(separator: "\n")
  }
}
