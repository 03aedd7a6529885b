import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

/// A story that is cut short at one moment, and what is found afterwards.
struct CrashRun {
  let story: CrashStory
  /// The moment at which the process dies, or `nil` if it lives.
  let point: CrashPoint?
  /// Whether the power fails, which loses everything that was not synced.
  let isCut: Bool
  /// What happens to the process that opens the session again.
  let reopening: Reopening
  /// Whether the refresh token is stored in its own item.
  let isApart: Bool
  /// Whether a process can prove that another one is dead.
  ///
  /// If not, the lease of its request decides.
  let provesDeaths: Bool

  /// A process that opens what is left before the test looks at it.
  enum Reopening {
    /// No process opens it.
    case none
    /// The process lives, and its moments are counted.
    case whole
    /// The process dies as well.
    case dies(CrashPoint)
  }

  /// What the test found.
  struct Evidence {
    var problems: [String] = []
    var counts = CrashCounts()
    /// Whether the process died at its moment.
    var hasDied = false
    /// The moments of the second opening, and whether the process died at its moment.
    var reopened = CrashCounts()
    var hasDiedAgain = false
    /// What the first death left.
    ///
    /// Two deaths that leave the same need one second opening.
    var remains = ""
  }

  let world = SimulatedWorld(Choices(replaying: []))
  let secrets = SimulatedSecrets()
  let path = "session.journal"

  init(
    _ story: CrashStory, at point: CrashPoint? = nil, isCut: Bool = false,
    reopening: Reopening = .none, isApart: Bool = false, provingDeaths: Bool = true
  ) {
    (self.isApart, provesDeaths) = (isApart, provingDeaths)
    secrets.separatesRefreshToken = isApart
    (self.story, self.point, self.isCut, self.reopening) = (story, point, isCut, reopening)
  }

  private func configuration(_ process: SimulatedProcess, _ transport: any HTTPTransport) throws
    -> SessionConfiguration
  {
    var configuration = try world.configuration(
      journal: path, in: process, secrets: secrets.view(of: process), policy: story.policy,
      provingDeaths: provesDeaths)
    configuration.http.transport = transport
    return configuration
  }

  func open(_ disk: SimulatedDisk, _ transport: (any HTTPTransport)? = nil) throws
    -> Session
  {
    let process = disk.process()
    let configuration = try configuration(
      process, transport ?? MortalTransport(world.server, process))
    return try world.run { try await Session.open(configuration) }
  }

  /// Lives the story and checks what is left.
  func live() throws -> Evidence {
    defer { world.finish() }
    world.server.settings.rotatesRefreshTokens = story.rotates
    // The server accepts old tokens, so that a token lost in transit does not end the session.
    world.server.settings.rotationGrace = .seconds(1_000_000)
    let disk = SimulatedDisk()
    let tokens = try begin(disk)
    var evidence = Evidence()
    let told = Told()
    let act = act(tokens)
    (evidence.counts, evidence.hasDied) = try tell("the story", on: disk, dyingAt: point, told, act)
    let left = isCut ? disk.crash(.losingAll) : disk.copy()
    evidence.remains = remains(of: left, told.isTold)
    switch reopening {
    case .none: break
    case .whole: (evidence.reopened, _) = try tell("the reopening", on: left)
    case .dies(let point):
      (evidence.reopened, evidence.hasDiedAgain) = try tell(
        "the reopening", on: left, dyingAt: point)
    }
    evidence.problems = try judge(
      isCut ? left.crash(.losingAll) : left.copy(), told.isTold, tokens)
    return evidence
  }

  /// Opens the session in a process that may die at a moment, and performs the actions in it.
  func tell(
    _ name: String, on disk: SimulatedDisk, dyingAt point: CrashPoint? = nil, _ told: Told = Told(),
    _ act: @escaping @Sendable (Session) async throws -> Void = { _ in }
  ) throws -> (CrashCounts, hasDied: Bool) {
    let process = disk.process()
    let transport = MortalTransport(world.server, process, dyingAt: point)
    let configuration = try configuration(process, transport)
    let (calls, reads) = (disk.callCount, secrets.callCount)
    switch point {
    case .disk(let call, let bytes)?:
      disk.fail(atCall: calls + call, with: .death(afterBytes: bytes))
    case .secret(let call, let isDone)?:
      secrets.fail(atCall: reads + call, with: isDone ? .deathAfter : .deathBefore)
    case .request?, nil: break
    }
    world.spawn(name) {
      let session = try await Session.open(configuration)
      try await act(session)
      if process.isAlive { told.tell() }
      told.keep(session)
    }
    world.run(for: .seconds(20))
    var counts = CrashCounts()
    counts.disk = disk.trace.suffix(disk.callCount - calls)
    counts.secrets = secrets.callCount - reads
    counts.requests = transport.count
    defer { process.kill() }
    return (counts, !process.isAlive)
  }

  /// The actions of the story, with the tokens that it adopts.
  func act(_ tokens: AdoptedTokens?) -> @Sendable (Session) async throws -> Void {
    guard let tokens else { return story.act }
    return { session in try await session.adopt(tokens) }
  }

  /// What happened before the story.
  ///
  /// Returns the tokens of the old layer if the story adopts tokens.
  func begin(_ disk: SimulatedDisk) throws -> AdoptedTokens? {
    story.earlier(world.server)
    let past = story.past
    let session = try open(disk)
    try world.run { try await past(session) }
    try world.run { try await session.close() }
    let tokens = story.adopts ? try oldTokens(disk) : nil
    world.clock.advance(by: .milliseconds(story.pause))
    story.server(world.server)
    return tokens
  }

  /// Tokens that the server issued to the app's old session layer.
  private func oldTokens(_ disk: SimulatedDisk) throws -> AdoptedTokens? {
    let wire = try configuration(disk.process(), NoTransport()).http
    let server = world.server
    return try world.run {
      guard let request = wire.loginRequest(.sample) else { return nil }
      let answer = try wire.readLogin(try await server.send(request))
      return AdoptedTokens(
        access: answer.access, refresh: answer.refresh, lifetime: answer.lifetime,
        user: answer.user, context: answer.context)
    }
  }

  /// Everything that a later opening can find, as one text.
  private func remains(of disk: SimulatedDisk, _ isTold: Bool) -> String {
    let items: [SecretItem] = [.token, .user, .context, .revocation, .refreshToken]
    let stored = items.map { item in
      do { return "\(try secrets.items.read(item) ?? [])" } catch { return "\(error)" }
    }
    let endpoints: [LoopbackEndpoint] = [.login, .refresh, .switchContext, .logout]
    let acted = endpoints.map { "\(world.server.count(of: $0))" }
    let files = disk.paths.map { "\($0) \(disk.contents(of: $0) ?? [])" }
    return (stored + acted + files + ["\(isTold)"]).joined(separator: "\n")
  }

  // MARK: Judging

  private func judge(_ disk: SimulatedDisk, _ isTold: Bool, _ tokens: AdoptedTokens?) throws
    -> [String]
  {
    let problems = Problems()
    let found = try judgeFound(disk, isTold, problems)
    // The requests of the dead process have timed out.
    world.clock.advance(by: .seconds(5))
    let settled = try judgeSettled(disk, found, tokens, problems)
    let events = try fold(disk).eventSequence

    let third = try open(disk)
    world.run(for: .milliseconds(500))
    problems.check(third.state == settled, "opened again it is \(third.state), before \(settled)")
    problems.check(try fold(disk).eventSequence == events, "opening again appends an event")
    try world.run { try await third.close() }
    problems.check(world.escapes.isEmpty, "something has escaped: \(world.escapes)")
    return problems.all
  }

  /// Opens without a network, and expects the state that was durable.
  private func judgeFound(_ disk: SimulatedDisk, _ isTold: Bool, _ problems: Problems) throws
    -> SessionState
  {
    let (before, stored) = (try fold(disk), try storedToken())
    let newest = max(stored?.generation ?? 0, before.generation.number)
    let session = try open(disk, NoTransport())
    world.run(for: .milliseconds(500))
    let found = session.state
    problems.check(story.legal.contains(found.kind), "it is \(found.kind)")
    if isTold {
      problems.check(found.kind == story.last, "it was told, and it is \(found.kind)")
      problems.check(
        found.token?.generation.number == story.generation, "it was told, and it has \(found)")
    }
    let hasEnded = before.eventSequence > 0 && before.state.kind != .authenticated
    if hasEnded, newest == before.generation.number {
      problems.check(
        found.kind == before.state.kind, "it ended as \(before.state.kind), and is \(found.kind)")
    }
    if found.kind == .authenticated {
      problems.check(
        found.token?.generation.number == newest, "it has \(found), and tok#\(newest) is stored")
      problems.check(
        session.currentToken?.plaintext == stored?.access, "its token is not the stored one")
      if !story.roles.isEmpty {
        problems.check(
          found.activeContext?.role.id == story.roles[Int(newest) - 1],
          "token and context do not belong together")
      }
    } else {
      problems.check(session.currentToken == nil, "there is a token while \(found.kind)")
    }
    try world.run { try await session.close() }
    return found
  }

  /// Opens with a network.
  ///
  /// A user who is logged in stays so, and pending revocations are sent.
  private func judgeSettled(
    _ disk: SimulatedDisk, _ found: SessionState, _ tokens: AdoptedTokens?, _ problems: Problems
  ) throws -> SessionState {
    let endpoints: [LoopbackEndpoint] = [.login, .refresh, .switchContext]
    let issued = endpoints.map { world.server.count(of: $0) }.reduce(0, +)
    if found.token?.generation.number == UInt64(issued) {
      // No response was lost, so from now on only the newest token is accepted.
      world.server.settings.rotationGrace = .zero
    }
    let session = try open(disk)
    world.run(for: .seconds(30))
    if let tokens {
      // The tokens of the old layer are still there and still valid.
      let isAdopted = try world.run { try await session.adopt(tokens) }
      problems.check(
        isAdopted != (found.kind == .authenticated), isAdopted ? "adopted" : "not adopted")
      problems.check(world.server.count(of: .logout) == 0, "an old layer's token was revoked")
    }
    if session.isAuthenticated, !story.isRefused {
      try world.run { try await session.refresh() }
    }
    let (settled, items) = (try fold(disk), secrets.items.items)
    switch session.state.kind {
    case .authenticated:
      let apart: Set<SecretItem> = isApart ? [.refreshToken] : []
      problems.check(
        items == apart.union([.token, .user, .context]), "the items are \(items)")
    case .expired:
      problems.check(
        items.isDisjoint(with: [.token, .refreshToken]), "a token is stored while expired")
    case .unauthenticated:
      problems.check(items.isEmpty, "\(items) are stored while nobody is signed in")
    }
    problems.check(settled.intents.revocations.isEmpty, "a revocation is pending")
    problems.check(settled.intents.request == nil, "a request has no end")
    if try hasLoggedOut(disk) {
      problems.check(world.server.count(of: .logout) > 0, "the server was never told")
    }
    let state = session.state
    problems.check(
      story.isRefused || story.adopts || state.kind == found.kind,
      "it was \(found.kind), and is \(state.kind)")
    try world.run { try await session.close() }
    return state
  }

  func records(_ disk: SimulatedDisk) throws -> [SessionRecord] {
    var reader = try JournalReader(path: path, on: disk)
    var records: [SessionRecord] = []
    while let raw = try reader.next() {
      guard raw.kind != 0xFF else { continue }
      records.append(
        try SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload))
    }
    return records
  }

  func fold(_ disk: SimulatedDisk) throws -> SessionFold {
    var fold = SessionFold()
    for record in try records(disk) { try fold.apply(record) }
    return fold
  }

  /// Whether the session was ended while the server accepted its tokens.
  func hasLoggedOut(_ disk: SimulatedDisk) throws -> Bool {
    try records(disk).contains { record in
      switch record.event {
      case .logout(let logout): logout.reason == .user
      case .sessionExpired(let expiry): expiry.reason == .inactivity
      default: false
      }
    }
  }

  /// The token item, as a thief of the device would read it.
  func storedToken() throws -> (generation: UInt64, access: String)? {
    struct Fields: Decodable {
      var generation: UInt64
      var access: String
    }
    struct Item: Decodable { var fields: Fields }
    guard let bytes = try secrets.items.read(.token) else { return nil }
    let item = try JSONDecoder().decode(Item.self, from: Data(bytes))
    return (item.fields.generation, item.fields.access)
  }
}

/// The problems that were found.
final class Problems {
  private(set) var all: [String] = []

  func check(_ holds: Bool, _ problem: @autoclosure () -> String) {
    if !holds { all.append(problem()) }
  }
}

/// Whether the caller received the result of the story.
final class Told: Sendable {
  private let state = Mutex<(isTold: Bool, session: Session?)>((false, nil))

  var isTold: Bool { state.withLock { $0.isTold } }

  func tell() { state.withLock { $0.isTold = true } }

  /// Keeps a session alive as long as the process.
  func keep(_ session: Session) { state.withLock { $0.session = session } }
}
