import Foundation
import Synchronization

/// The service of the examples: it signs users in, and keeps notes and to-dos.
///
/// It has two ways to sign in. One uses common names (`auth/login`, `accessToken`). The other uses
/// unusual names (`v2/session`), with everything in an envelope.
public final class Service: Sendable {
  /// The user who may sign in.
  public static let user = (name: "ana@example.org", password: "correct horse")

  private struct State {
    var lifetime: Duration
    var delay = Duration.zero
    var numberOfTokens = 0
    var ends: [String: ContinuousClock.Instant] = [:]
    var renewals: Set<String> = []
    var counts: [String: Int] = [:]
    var keys: Set<String> = []
    var todos: [String: StoredTodo] = [:]
  }

  private struct StoredTodo: Codable {
    var id: String
    var title: String
    var version: Int
  }

  private let state: Mutex<State>

  /// Creates a service without to-dos.
  public init(tokenLifetime: Duration = .seconds(3600)) {
    state = Mutex(State(lifetime: tokenLifetime))
  }

  /// Sets the lifetime of tokens that are issued later.
  public func setTokenLifetime(_ lifetime: Duration) { state.withLock { $0.lifetime = lifetime } }

  /// Sets the duration of later requests for notes.
  public func setDelay(_ delay: Duration) { state.withLock { $0.delay = delay } }

  /// Returns the number of requests for this path.
  public func count(of path: String) -> Int { state.withLock { $0.counts[path] ?? 0 } }

  /// Issues a pair of tokens, such as an app already has.
  public func issueTokens() -> (access: String, refresh: String) {
    state.withLock { Self.issue(&$0) }
  }

  /// Edits a to-do, as a user does on the web.
  public func editElsewhere(_ id: String, title: String) {
    state.withLock { state in
      let version = state.todos[id]?.version ?? 0
      state.todos[id] = StoredTodo(id: id, title: title, version: version + 1)
    }
  }

  /// Answers a request, for `Server`.
  @Sendable public func answer(_ request: Server.Request) -> Server.Response {
    let response = state.withLock { state in
      state.counts[request.path, default: 0] += 1
      return Self.answer(request, &state)
    }
    if request.path == "/notes" {
      let delay = state.withLock { $0.delay }
      Thread.sleep(forTimeInterval: delay / .seconds(1))
    }
    return response
  }

  private static func issue(_ state: inout State) -> (access: String, refresh: String) {
    state.numberOfTokens += 1
    let pair = ("access-\(state.numberOfTokens)", "refresh-\(state.numberOfTokens)")
    state.ends[pair.0] = .now + state.lifetime
    state.renewals.insert(pair.1)
    return pair
  }

  private static func answer(_ request: Server.Request, _ state: inout State) -> Server.Response {
    switch (request.method, request.path) {
    case ("POST", "/auth/login"): login(request, &state, ("email", "password"), usual)
    case ("PUT", "/v2/session"): login(request, &state, ("login", "pass"), odd)
    case ("POST", "/auth/refresh"): refresh(request, &state, "refreshToken", usual)
    case ("PUT", "/v2/session/renew"): refresh(request, &state, "renewal", odd)
    default: protected(request, &state)
    }
  }

  private static func login(
    _ request: Server.Request, _ state: inout State, _ names: (String, String),
    _ spell: ((access: String, refresh: String), Duration) -> String
  ) -> Server.Response {
    let fields = fields(of: request)
    guard fields[names.0] == user.name, fields[names.1] == user.password else {
      return .init(401, #"{"fault":{"code":"BAD_PASSWORD"}}"#)
    }
    return .init(200, spell(issue(&state), state.lifetime))
  }

  /// Refreshes tokens; each refresh token is valid once.
  private static func refresh(
    _ request: Server.Request, _ state: inout State, _ name: String,
    _ spell: ((access: String, refresh: String), Duration) -> String
  ) -> Server.Response {
    guard let token = fields(of: request)[name], state.renewals.remove(token) != nil else {
      return .init(401, #"{"fault":{"code":"TOKEN_REUSED"}}"#)
    }
    return .init(200, spell(issue(&state), state.lifetime))
  }

  /// Answers a request that needs a valid access token.
  private static func protected(_ request: Server.Request, _ state: inout State)
    -> Server.Response
  {
    let token = String((request.headers["authorization"] ?? "").dropFirst("Bearer ".count))
    guard let end = state.ends[token], end > .now else {
      return .init(401, #"{"fault":{"code":"TOKEN_EXPIRED"}}"#)
    }
    let id = String(request.path.split(separator: "/").last ?? "")
    switch (request.method, request.path) {
    case ("DELETE", "/v2/session"), ("POST", "/auth/logout"):
      state.ends[token] = nil
      return .init(204)
    case ("GET", "/notes"): return .init(200, #"["water the plants","call Bob"]"#)
    case ("GET", "/v2/todos"):
      let todos = state.todos.values.sorted { $0.id < $1.id }.map {
        #"{"id":"\#($0.id)","title":"\#($0.title)","version":\#($0.version)}"#
      }
      return .init(200, "[" + todos.joined(separator: ",") + "]")
    case ("PUT", let path) where path.hasPrefix("/v2/todos/"): return put(id, request, &state)
    case ("GET", let path) where path.hasPrefix("/jobs/"): return .init(200)
    default: return .init(404)
    }
  }

  /// Stores a to-do, unless it was edited since the app read it.
  ///
  /// A request with a known key is a repetition, and changes nothing.
  private static func put(_ id: String, _ request: Server.Request, _ state: inout State)
    -> Server.Response
  {
    let key = request.headers["idempotency-key"] ?? ""
    if state.keys.contains(key) { return .init(200) }
    let todo: StoredTodo
    do {
      todo = try JSONDecoder().decode(StoredTodo.self, from: request.body)
    } catch {
      return .init(400)
    }
    guard todo.version == state.todos[id]?.version ?? 0 else {
      return .init(409, #"{"fault":{"code":"EDITED_ELSEWHERE"}}"#)
    }
    state.keys.insert(key)
    state.todos[id] = StoredTodo(id: id, title: todo.title, version: todo.version + 1)
    return .init(200)
  }

  /// Returns the fields of a form, or of a JSON object of strings.
  private static func fields(of request: Server.Request) -> [String: String] {
    let text = String(decoding: request.body, as: UTF8.self)
    if text.hasPrefix("{") {
      do {
        return try JSONDecoder().decode([String: String].self, from: request.body)
      } catch {
        return [:]
      }
    }
    let pairs = text.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    return pairs.reduce(into: [:]) { $0[$1[0]] = $1.last?.removingPercentEncoding }
  }

  private static func usual(_ pair: (access: String, refresh: String), _ lifetime: Duration)
    -> String
  {
    """
    {"accessToken":"\(pair.access)","refreshToken":"\(pair.refresh)",\
    "expiresIn":\(lifetime / .seconds(1)),"user":{"id":"ana"}}
    """
  }

  private static func odd(_ pair: (access: String, refresh: String), _ lifetime: Duration)
    -> String
  {
    """
    {"result":{"session":{"token":"\(pair.access)","renewal":"\(pair.refresh)",\
    "ms":\(Int(lifetime / .milliseconds(1)))},"person":{"uid":"ana"}}}
    """
  }
}
