import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

/// A story that is cut short at one moment, and what is found afterwards.
struct CrashRun {
  let story: CrashStory
  /// Nowhere where `nil`.
  let point: CrashPoint?
  /// Whether the power fails: what was not synced is gone.
  let isCut: Bool

  /// What was found.
  struct Evidence {
    var problems: [String] = []
    var counts = CrashCounts()
    /// Whether the process died at its moment.
    var hasDied = false
  }

  private let world = SimulatedWorld(Choices(replaying: []))
  private let secrets = SimulatedSecrets()
  private let path = "session.journal"

  init(_ story: CrashStory, at point: CrashPoint? = nil, isCut: Bool = false) {
    (self.story, self.point, self.isCut) = (story, point, isCut)
  }

  private func configuration(_ process: SimulatedProcess, _ transport: any HTTPTransport) throws
    -> SessionConfiguration
  {
    var configuration = try world.configuration(
      journal: path, in: process, secrets: secrets.view(of: process), policy: story.policy)
    configuration.transport = transport
    return configuration
  }

  private func open(_ disk: SimulatedDisk, _ transport: (any HTTPTransport)? = nil) throws
    -> Session
  {
    let process = disk.process()
    let configuration = try configuration(
      process, transport ?? MortalTransport(world.server, process))
    return try world.run { try await Session.open(configuration) }
  }

  /// Lives the story, and looks at what is left.
  func live() throws -> Evidence {
    defer { world.finish() }
    world.server.settings.rotatesRefreshTokens = story.rotates
    // A token that was lost on its way is never the session's fault.
    world.server.settings.rotationGrace = .seconds(1_000_000)
    let disk = SimulatedDisk()
    try begin(disk)

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
    let (act, told) = (story.act, Told())
    world.spawn("the story") {
      let session = try await Session.open(configuration)
      try await act(session)
      if process.isAlive { told.tell() }
      told.keep(session)
    }
    world.run(for: 20_000)
    var evidence = Evidence()
    evidence.hasDied = !process.isAlive
    evidence.counts.disk = disk.trace.suffix(disk.callCount - calls)
    evidence.counts.secrets = secrets.callCount - reads
    evidence.counts.requests = transport.count
    process.kill()
    evidence.problems = try judge(isCut ? disk.crash(.losingAll) : disk.copy(), told.isTold)
    return evidence
  }

  private func begin(_ disk: SimulatedDisk) throws {
    story.earlier(world.server)
    let past = story.past
    let session = try open(disk)
    try world.run { try await past(session) }
    try world.run { try await session.close() }
    world.clock.advance(by: story.pause)
    story.server(world.server)
  }

  // MARK: Judging

  private func judge(_ disk: SimulatedDisk, _ isTold: Bool) throws -> [String] {
    let problems = Problems()
    let found = try judgeFound(disk, isTold, problems)
    // Whatever the dead process was at, its time is over.
    world.clock.advance(by: 5_000)
    let settled = try judgeSettled(disk, found, problems)
    let events = try fold(disk).eventSequence

    let third = try open(disk)
    world.run(for: 500)
    problems.check(third.state == settled, "opened again it is \(third.state), before \(settled)")
    problems.check(try fold(disk).eventSequence == events, "opening again appends an event")
    try world.run { try await third.close() }
    problems.check(world.escapes.isEmpty, "something has escaped: \(world.escapes)")
    return problems.all
  }

  /// Opened without a network: what is there is what was durable.
  private func judgeFound(_ disk: SimulatedDisk, _ isTold: Bool, _ problems: Problems) throws
    -> SessionState
  {
    let (before, stored) = (try fold(disk), try storedToken())
    let newest = max(stored?.generation ?? 0, before.generation.number)
    let session = try open(disk, NoTransport())
    world.run(for: 500)
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
        session.currentToken?.value.value == stored?.access, "its token is not the stored one")
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

  /// Opened with a network: who is signed in goes on, and what is owed to the server is told.
  private func judgeSettled(
    _ disk: SimulatedDisk, _ found: SessionState, _ problems: Problems
  ) throws -> SessionState {
    let endpoints: [LoopbackEndpoint] = [.login, .refresh, .switchContext]
    let issued = endpoints.map { world.server.count(of: $0) }.reduce(0, +)
    if found.token?.generation.number == UInt64(issued) {
      // No answer was lost, and no token will be forgiven that is not the newest.
      world.server.settings.rotationGrace = .zero
    }
    let session = try open(disk)
    world.run(for: 30_000)
    if found.kind == .authenticated, !story.isRefused {
      try world.run { try await session.refresh() }
    }
    let (settled, items) = (try fold(disk), secrets.items.items)
    switch session.state.kind {
    case .authenticated:
      problems.check(items == [.token, .user, .context], "the items are \(items)")
    case .expired:
      problems.check(!items.contains(.token), "a token is stored while expired")
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
      story.isRefused || state.kind == found.kind, "it was \(found.kind), and is \(state.kind)")
    try world.run { try await session.close() }
    return state
  }

  private func records(_ disk: SimulatedDisk) throws -> [SessionRecord] {
    var reader = try JournalReader(path: path, on: disk)
    var records: [SessionRecord] = []
    while let raw = try reader.next() {
      guard raw.kind != 0xFF else { continue }
      records.append(
        try SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload))
    }
    return records
  }

  private func fold(_ disk: SimulatedDisk) throws -> SessionFold {
    var fold = SessionFold()
    for record in try records(disk) { try fold.apply(record) }
    return fold
  }

  private func hasLoggedOut(_ disk: SimulatedDisk) throws -> Bool {
    try records(disk).contains { record in
      guard case .logout(let logout) = record.event else { return false }
      return logout.reason == .user
    }
  }

  /// The token item, as whoever steals the device reads it.
  private func storedToken() throws -> (generation: UInt64, access: String)? {
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

/// What was found wrong.
private final class Problems {
  private(set) var all: [String] = []

  func check(_ holds: Bool, _ problem: @autoclosure () -> String) {
    if !holds { all.append(problem()) }
  }
}

/// Whether the story's end was told to whoever asked for it.
private final class Told: Sendable {
  private let state = Mutex<(isTold: Bool, session: Session?)>((false, nil))

  var isTold: Bool { state.withLock { $0.isTold } }

  func tell() { state.withLock { $0.isTold = true } }

  /// Keeps a session alive, as a process does.
  func keep(_ session: Session) { state.withLock { $0.session = session } }
}
