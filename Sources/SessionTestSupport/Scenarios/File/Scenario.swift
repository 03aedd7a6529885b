@_spi(Internals) import SessionCore

/// A flow of one app as a text file tells it: what the user does, what the server answers and when,
/// which requests go out, which events and state follow.
///
/// ```swift
/// let scenario = try Scenario(text, file: "Specs/Scenarios/edu-day.scenario")
/// try await scenario.runSimulated(Choices(seed: 7))  // a simulated world, its schedule by draws
/// try await scenario.runOverLoopback()               // real sockets, real files
/// ```
/// The grammar is in `Specs/Scenarios/README.md`.
///
/// - Requirement: TST-2
package struct Scenario: Sendable {
  /// The file, as it was named.
  package let file: String
  /// What it tells, in a line.
  package let title: String
  /// The requirements that it proves.
  package let requirements: [String]
  let setting: ScenarioSetting
  let steps: [ScenarioStep]

  /// Reads a scenario.
  ///
  /// - Parameters:
  ///   - text: the file's text.
  ///   - file: how errors name the file.
  /// - Throws: everything that is wrong with it, at most ``ScenarioErrors/limit``.
  package init(_ text: String, file: String) throws(ScenarioErrors) {
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

/// One line of a scenario, with what is indented below it.
struct ScenarioStep: Sendable {
  /// A word and what it must be: a text, `*`, or a token's name.
  struct Field: Hashable, Sendable {
    let name: String
    let value: String
  }

  /// What one does with a session.
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
    /// A call: a protected one, unless it is marked as plain.
    case call(method: String, path: String, isPlain: Bool)
    /// Tokens of an old layer are taken over.
    case adopt(access: String, refresh: String?)
    /// A token is read, as a call does that is about to leave.
    case use
    /// A change is taken into the change log.
    case add(ScenarioChange)
    /// What waits is sent.
    case drain
    /// What waits is sent whenever the gate opens, until the session is closed.
    case sync
    /// A change is wanted no more.
    case discard(key: String)
    /// Signs in on the identity provider's page, or silently where that can be done.
    case page
    /// Signs in silently, or not at all.
    case silently
    /// A redirect reaches the app from outside of the page.
    case redirect(String)
  }

  /// What a user does with the page that is shown.
  enum PageAct: Hashable, Sendable {
    /// Fills in name and password of this user, and sends them.
    case types(String)
    /// Follows the link of those who have forgotten the password.
    case forgets
    /// Follows the link of those who do not want to sign in.
    case cancels
    /// Closes the view.
    case leaves
  }

  /// How a command ends.
  enum Ending: Hashable, Sendable {
    case ok
    case error(String)
  }

  enum Action: Sendable {
    /// Time passes to this, in milliseconds since the start; nothing may happen on the way.
    case at(Int64)
    /// Time passes to this; what happens on the way is named behind it.
    case until(Int64)
    case clock(by: Int64)
    case network(isOn: Bool)
    case secrets(isLocked: Bool)
    /// The journal's file is gone, or damaged in what was acknowledged.
    case journal(isLost: Bool)
    case act(Command, label: String?)
    case page(PageAct)
    case request(ExpectedRequest)
    case answer(ScriptedAnswer, to: String?)
    case lost(to: String?)
    /// The server has it and never answers.
    case silent(to: String?)
    /// A token of three parts is made, with a life in milliseconds and these claims.
    case token(String, life: Int64?, JSONTemplate)
    case event(String, [Field], times: Int)
    case note(String, [Field])
    case state(String, [Field])
    case shows([Field])
    case result(label: String?, Ending, [Field])
    case stored(Set<SecretItem>)
    /// So many changes of the user are not sent.
    case pending(Int)
    /// The app's data was cleared so often since the beginning.
    case cleared(Int)
    /// A subscriber in the process has received the first events of the journal, up to this number.
    case received(Int)
    /// The app was told so often since the beginning that a user's status has changed.
    case news(Int)
    /// A process dies.
    case kill(String)
    /// All of them die, and what was not synced is lost.
    case powerCut
    /// A later record of the change log.
    case change(String, [Field])
    /// What waits in the change log.
    case waiting(ScenarioChanges)
    /// What of the change log was given up.
    case givenUp(ScenarioChanges)
  }

  let line: Int
  let process: String
  let action: Action
}

/// A request as the server must receive it.
struct ExpectedRequest: Sendable {
  /// What `Authorization` must be; `nil` for none at all.
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
  /// `nil` for an address without a query.
  var query: [ScenarioStep.Field]?
  var label: String?
  /// The key of the change that it carries, in `Idempotency-Key`; `nil` for none at all.
  var key: String?
  var authorization: Authorization?
  var headers: [ScenarioStep.Field] = []
  /// `nil` for none at all.
  var body: Body?
}

/// What the server answers.
struct ScriptedAnswer: Sendable {
  enum Body: Sendable {
    case json(JSONTemplate)
    case html(String)
    /// A page with a form that is posted there, and links.
    case page(WebPage)
    case empty
  }

  var status: Int
  var headers: [ScenarioStep.Field] = []
  var body = Body.empty
}

/// Who may sign in.
struct ScenarioUser: Hashable, Sendable {
  let name: String
  let password: String
}
