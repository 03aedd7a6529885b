@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization

/// What happens to a session, and the states that are allowed if it is cut short.
struct CrashStory: Sendable, CustomStringConvertible {
  let name: String
  /// Whether the server gives another refresh token with each refresh.
  var rotates = false
  var end = SessionPolicy.End.clear
  /// What the server does before the story.
  var earlier: @Sendable (SimulatedServer) -> Void = { _ in }
  /// What happened before, in a new session without a user.
  var past: @Sendable (Session) async throws -> Void = { try await $0.login(.sample) }
  /// The milliseconds that pass before the process starts.
  var pause: Int64 = 0
  /// How long the session may be unused, in milliseconds.
  var inactivityLimit: Int64?
  /// What the server does during the story.
  var server: @Sendable (SimulatedServer) -> Void = { _ in }
  /// What happens in the process that may die, after it has opened the session.
  let act: @Sendable (Session) async throws -> Void
  /// The states that are allowed after a death, and the state without a death.
  let legal: Set<SessionState.Kind>
  let last: SessionState.Kind
  /// The generation of the token without a death.
  var generation: UInt64?
  /// Whether the server refuses to refresh the token.
  var isRefused = false
  /// Whether the story adopts the tokens of an old layer.
  var adopts = false
  /// Whether the server accepts the former token beside the new one, so that a lost response costs nothing.
  var leavesFormerToken = false
  /// The role of each token, from the first one, if the role changes.
  var roles: [Identifier] = []

  var description: String { name }

  /// Whether the story gets a newer token for a user who stays logged in.
  var hasToken: Bool { legal == [.authenticated] }

  var policy: SessionPolicy {
    var policy = SessionPolicy.edu(.staging)
    policy.refresh.timeout = .seconds(2)
    policy.ending.onRejection = end
    policy.ending.inactivityLimit = inactivityLimit.map { .milliseconds($0) }
    return policy
  }

  /// The stories in which the second opening is cut short as well.
  static let reopened = all.filter {
    [
      "login", "two refreshes that rotate", "logout", "adoption",
      "the signed-in user logs in again",
    ].contains($0.name)
  }

  /// The stories in which a second process takes no action before the first one dies.
  ///
  /// It would refresh an expired token and send a pending revocation by itself.
  static let withSibling = all.filter {
    $0.pause == 0 && !$0.adopts && $0.name != "a revocation that is pending"
  }

  private static let teacher = Identifier(LoopbackContext.teacher.roleID)
  private static let coordinator = ContextTarget(
    role: Identifier(LoopbackContext.coordinator.roleID),
    school: Identifier(LoopbackContext.coordinator.schoolID))

  private static let refuse: @Sendable (Session) async throws -> Void = { session in
    do throws(SessionError) { try await session.refresh() } catch {
      guard error.isLoggedOut || error.isExpired else { throw error }
    }
  }

  static let all = [
    CrashStory(
      name: "login", past: { _ in }, act: { try await $0.login(.sample) },
      legal: [.unauthenticated, .authenticated], last: .authenticated, generation: 1),
    CrashStory(
      name: "login of who had expired", end: .keep,
      past: { session in try await session.login(.sample) }, server: { $0.revokeAllTokens() },
      act: { session in
        try await refuse(session)
        try await session.login(.sample)
      }, legal: [.authenticated, .expired], last: .authenticated, generation: 2, isRefused: true),
    CrashStory(
      name: "refresh, the refresh token stays", act: { try await $0.refresh() },
      legal: [.authenticated], last: .authenticated, generation: 2),
    CrashStory(
      name: "two refreshes that rotate", rotates: true,
      act: { session in
        try await session.refresh()
        try await session.refresh()
      }, legal: [.authenticated], last: .authenticated, generation: 3),
    CrashStory(
      name: "the signed-in user logs in again", rotates: true,
      act: { try await $0.reauthenticate(.sample) }, legal: [.authenticated],
      last: .authenticated, generation: 2, leavesFormerToken: true),
    CrashStory(
      name: "switch", rotates: true, act: { try await $0.switchContext(to: coordinator) },
      legal: [.authenticated], last: .authenticated, generation: 2,
      roles: [teacher, coordinator.role]),
    CrashStory(
      name: "an expired token at opening", rotates: true, pause: 3_700_000,
      act: { try await $0.accessToken() }, legal: [.authenticated], last: .authenticated,
      generation: 2),
    CrashStory(
      name: "logout", act: { try await $0.logout() }, legal: [.authenticated, .unauthenticated],
      last: .unauthenticated),
    CrashStory(
      name: "a revocation that is pending",
      earlier: { $0.script(.status(503), for: .logout, number: 1) },
      past: { session in
        try await session.login(.sample)
        try await session.logout()
      }, act: { _ in }, legal: [.unauthenticated], last: .unauthenticated),
    CrashStory(
      name: "a refused refresh, cleared", server: { $0.revokeAllTokens() }, act: refuse,
      legal: [.authenticated, .unauthenticated], last: .unauthenticated, isRefused: true),
    CrashStory(
      name: "a refused refresh, kept", end: .keep, server: { $0.revokeAllTokens() }, act: refuse,
      legal: [.authenticated, .expired], last: .expired, isRefused: true),
    CrashStory(
      name: "unused for too long", end: .keep, pause: 700_000, inactivityLimit: 600_000,
      act: { _ in }, legal: [.authenticated, .expired], last: .expired, isRefused: true),
    CrashStory(
      name: "adoption", past: { _ in }, act: { _ in }, legal: [.unauthenticated, .authenticated],
      last: .authenticated, generation: 1, adopts: true),
    CrashStory(
      name: "logout, and another sign-in", rotates: true,
      act: { session in
        try await session.logout()
        try await session.login(.sample)
      }, legal: [.authenticated, .unauthenticated], last: .authenticated, generation: 2),
  ]
}

/// A moment at which a process dies: before or after one call on the disk, one on the secrets, or one
/// request.
enum CrashPoint: Hashable, Sendable, CustomStringConvertible {
  /// The process dies in call number `Int`; of a write, the first `bytes` bytes are in the file.
  case disk(Int, bytes: Int)
  case secret(Int, isDone: Bool)
  /// The process dies before it sends request number `Int`, or before it reads the response.
  case request(Int, isActedOn: Bool)

  var description: String {
    switch self {
    case .disk(let call, let bytes): "in call \(call) on the disk, behind \(bytes) bytes"
    case .secret(let call, let isDone): "\(isDone ? "after" : "before") call \(call) on the secrets"
    case .request(let number, let isActedOn):
      "\(isActedOn ? "after the server acted on" : "before") request \(number)"
    }
  }
}

/// How many moments a story has.
struct CrashCounts: Sendable {
  /// The calls on the disk.
  var disk: ArraySlice<DiskCall> = []
  var secrets = 0
  var requests = 0

  /// Every moment at which the story can be cut short with a different result.
  ///
  /// A death in a call that only reads leaves the same as a death in the next call that writes.
  var points: [CrashPoint] {
    var points: [CrashPoint] = []
    for (number, call) in disk.enumerated() where call.operation.changesSomething {
      let bytes = call.operation == .write ? call.bytes : 0
      for count in Set([0, bytes / 2, bytes]).sorted() {
        points.append(.disk(number, bytes: count))
      }
    }
    for call in 0..<secrets {
      points += [.secret(call, isDone: false), .secret(call, isDone: true)]
    }
    for number in 0..<requests {
      points += [.request(number, isActedOn: false), .request(number, isActedOn: true)]
    }
    return points
  }
}

extension DiskOperation {
  fileprivate var changesSomething: Bool {
    switch self {
    case .open, .openForWriting, .inspectPath, .inspect, .list, .read, .nextData: false
    case .create, .createOnly, .rename, .remove, .synchronizeFolder, .write, .truncate,
      .synchronizeData, .synchronize, .lock, .unlock:
      true
    }
  }
}

/// The network of a process that may die.
///
/// A dead process sends nothing and reads nothing.
final class MortalTransport: HTTPTransport {
  private let server: SimulatedServer
  private let process: SimulatedProcess
  private let point: CrashPoint?
  private let state = Mutex(0)

  init(_ server: SimulatedServer, _ process: SimulatedProcess, dyingAt point: CrashPoint? = nil) {
    (self.server, self.process, self.point) = (server, process, point)
  }

  /// How many requests were sent.
  var count: Int { state.withLock { $0 } }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let number = state.withLock { count in
      defer { count += 1 }
      return count
    }
    if point == .request(number, isActedOn: false) { process.kill() }
    try live()
    let response = try await server.send(request)
    if point == .request(number, isActedOn: true) { process.kill() }
    try live()
    return response
  }

  private func live() throws(TransportError) {
    guard process.isAlive else { throw .noConnection("a dead process") }
  }
}

/// A network without a connection.
struct NoTransport: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    throw .noConnection("there is no network")
  }
}
