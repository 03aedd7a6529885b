import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization

/// Observes each request for a token on both sides of the network.
final class Witness: HTTPTransport {
  /// A request and its outcome.
  struct Refresh: Sendable {
    /// How often the server acted on it.
    var acted = 0
    var isLost = false
    var status = 0
    var code: String?
  }

  private let server: SimulatedServer
  private let state = Mutex<(refreshes: [Refresh], last: HTTPRequest?)>(([], nil))
  /// The refresh tokens that logouts have named.
  ///
  /// A refresh with one of them belongs to a revocation and is in no journal.
  private let revoked = Mutex<Set<String>>([])

  init(_ server: SimulatedServer) {
    self.server = server
  }

  var refreshes: [Refresh] { state.withLock { $0.refreshes } }

  /// The last refresh as it was sent, with its token.
  var last: HTTPRequest? { state.withLock { $0.last } }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let token = Self.member("refresh_token", of: request.body ?? [])
    if request.url.path.hasSuffix("/auth/logout"), let token {
      revoked.withLock { _ = $0.insert(token) }
    }
    let isRevocation = token.map { token in revoked.withLock { $0.contains(token) } } ?? false
    guard request.url.path.hasSuffix("/auth/refresh"), !isRevocation else {
      return try await server.send(request)
    }
    let index = state.withLock { state in
      state.refreshes.append(Refresh(isLost: true))
      state.last = request
      return state.refreshes.count - 1
    }
    let before = server.count(of: .refresh)
    do {
      let response = try await server.send(request)
      let acted = server.count(of: .refresh) - before
      let code = Self.code(response)
      state.withLock {
        $0.refreshes[index] = Refresh(
          acted: acted, isLost: false, status: response.status, code: code)
      }
      return response
    } catch {
      let acted = server.count(of: .refresh) - before
      state.withLock { $0.refreshes[index].acted = acted }
      throw error
    }
  }

  private static func code(_ response: HTTPResponse) -> String? {
    guard response.status >= 400 else { return nil }
    return member("code", of: response.body)
  }

  private static func member(_ name: String, of body: [UInt8]) -> String? {
    let text = String(decoding: body, as: UTF8.self)
    guard let range = text.firstRange(of: "\"\(name)\":\"") else { return nil }
    return String(text[range.upperBound...].prefix { $0 != "\"" })
  }
}

/// One process, a server that accepts no token twice, an unreliable network, and events elsewhere.
final class WhyLife {
  let choices: Choices
  let world: SimulatedWorld
  let disk = SimulatedDisk()
  let witness: Witness
  /// How often the app logged out.
  private(set) var logouts = 0
  private(set) var wasRevoked = false
  /// How often a copy of the token was used.
  private(set) var copies = 0
  /// The offset of the civil time from each uptime on.
  private(set) var offsets: [(uptime: Int64, offset: Int64)] = [(.min, 0)]

  private let secrets = SimulatedSecrets()
  private var session: Session
  private var offset: Int64 = 0

  init(_ choices: Choices) throws {
    self.choices = choices
    world = SimulatedWorld(choices)
    witness = Witness(world.server)
    world.server.settings.rotatesRefreshTokens = true
    world.server.settings.reuseEndsSession = choices.chance(1, in: 2)
    world.server.settings.tellsTime = false
    world.server.settings.accessTokenLifetime = .seconds(864_000)
    world.server.weather = SimulatedServer.Weather(
      lostRequests: 4, lostAnswers: 8, repetitions: 4, outages: 20, longestWay: 100)
    session = try Self.open(world, disk, secrets, witness)
  }

  private static func open(
    _ world: SimulatedWorld, _ disk: SimulatedDisk, _ secrets: SimulatedSecrets, _ witness: Witness
  ) throws -> Session {
    let process = disk.process()
    var policy = SessionPolicy.edu(.staging)
    (policy.refresh.timeout, policy.limits.loginsPerMinute) = (.seconds(2), nil)
    (policy.ending.onExhaustion, policy.refresh.attempts) = (.end(.clear), 2)
    var configuration = try world.configuration(
      in: process, secrets: secrets.view(of: process), policy: policy)
    configuration.http.transport = witness
    let made = configuration
    return try world.run { try await Session.open(made) }
  }

  func live() throws {
    for _ in 0..<choices.draw(in: 1...16) { try step() }
    try attempt("close") { try await $0.close() }
    world.run(for: .seconds(60))
  }

  private func step() throws {
    guard session.state.kind == .authenticated else {
      try attempt("login") { try await $0.login(.sample) }
      return
    }
    switch choices.draw(below: 16) {
    case 0: try logOut()
    case 1:
      choices.step("the server revokes")
      world.server.revokeAllTokens()
      wasRevoked = true
    case 2: try useCopy()
    case 3, 4: try reopen()
    case 5: world.run(for: .milliseconds(Int64(choices.draw(in: 0...200_000))))
    default: try attempt("refresh") { try await $0.refresh() }
    }
  }

  /// Runs an operation that may fail; its result is in the journal.
  @discardableResult
  private func attempt<Value: Sendable>(
    _ name: String, _ work: @escaping @Sendable (Session) async throws -> Value
  ) throws -> Bool {
    choices.step(name)
    let session = session
    return try world.run {
      do {
        _ = try await work(session)
        return true
      } catch is SessionError {
        return false
      }
    }
  }

  private func logOut() throws {
    if try attempt("logout", { try await $0.logout() }) { logouts += 1 }
  }

  /// Another client has the same token and uses it.
  private func useCopy() throws {
    guard let request = witness.last else { return }
    choices.step("a copy of the last refresh is sent")
    copies += 1
    let server = world.server
    try world.run {
      do { _ = try await server.send(request) } catch is TransportError {}
    }
  }

  private func reopen() throws {
    try attempt("close") { try await $0.close() }
    if choices.chance(1, in: 2) {
      let hours = Int64(choices.draw(in: -9...9))
      choices.step("the clock is set by \(hours) h")
      offset += hours * 3_600_000
      // Records that are already written keep the offset of before.
      world.clock.advance(by: .seconds(1))
      offsets.append((world.clock.now().uptime, offset))
      world.clock.setTime(world.clock.now().time.advanced(by: hours * 3_600_000))
    }
    choices.step("open")
    session = try Self.open(world, disk, secrets, witness)
  }
}
