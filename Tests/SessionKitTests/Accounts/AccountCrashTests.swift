@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionAccounts
@testable import SessionKit

/// Two accounts in a simulated world, and a process that dies at one moment.
private final class AccountLife: Sendable {
  enum Point: Hashable {
    case disk(Int, bytes: Int)
    /// A moment of the secrets of the first or the second account.
    case secret(Int, moment: Int)
    case request(Int, isActedOn: Bool)
  }

  /// What the process reported before it died.
  struct Told {
    var accounts: [Account.ID] = []
    var loggedIn: Set<Account.ID> = []
    var selected: Account.ID?
    var removed: LogoutOutcome?
  }

  let world = SimulatedWorld(Choices(replaying: []))
  let stores = [SimulatedSecrets(), SimulatedSecrets()]
  /// The store of each account, by the order in which they were added.
  let homes = Mutex<[Account.ID: SimulatedSecrets]>([:])
  let told = Mutex(Told())
  let path = "accounts.journal"

  func open(
    _ disk: SimulatedDisk, _ process: SimulatedProcess, _ transport: any HTTPTransport
  ) throws -> Accounts.Setup {
    var setup = Accounts.Setup(path: path) { [self] account throws(SessionError) in
      let secrets = homes.withLock { homes in
        let home = homes[account.id] ?? stores[min(homes.count, 1)]
        homes[account.id] = home
        return home
      }
      do {
        var configuration = try world.configuration(
          journal: "\(account.id).journal", in: process, secrets: secrets.view(of: process),
          policy: .development)
        configuration.http.transport = transport
        return configuration
      } catch {
        throw .wrongAddress("\(error)")
      }
    }
    setup.options = .on(process)
    setup.clock = world.clock
    setup.followsOthers = false
    setup.runtime = try world.configuration(in: process, secrets: MemorySecretStore()).runtime()
    return setup
  }

  /// Adds two accounts, logs in to both, and removes the first.
  private func act(_ setup: Accounts.Setup) async throws -> Accounts {
    let accounts = try await Accounts.open(setup)
    for _ in 0..<2 {
      let account = try await accounts.add()
      told.withLock { $0.accounts.append(account.id) }
      try await accounts.session(of: account.id).login(.sample)
      told.withLock { _ = $0.loggedIn.insert(account.id) }
    }
    let ids = told.withLock { $0.accounts }
    try await accounts.select(ids[1])
    told.withLock { $0.selected = ids[1] }
    let outcome = try await accounts.remove(ids[0])
    told.withLock { $0.removed = outcome }
    return accounts
  }

  /// Lives, dies at `point`, and returns the moments of the life and what is wrong afterwards.
  func live(_ point: Point?, isCut: Bool) throws -> (
    points: [Point], problems: [String], died: Bool
  ) {
    defer { world.finish() }
    world.server.settings.rotationGrace = .seconds(1_000_000)
    let disk = SimulatedDisk()
    let process = disk.process()
    var dying: CrashPoint?
    switch point {
    case .disk(let call, let bytes)?: disk.fail(atCall: call, with: .death(afterBytes: bytes))
    case .secret(let store, let moment)?: stores[store].blow(after: moment)
    case .request(let number, let isActedOn)?: dying = .request(number, isActedOn: isActedOn)
    case nil: break
    }
    let transport = MortalTransport(world.server, process, dyingAt: dying)
    let setup = try open(disk, process, transport)
    let kept = Mutex<Accounts?>(nil)
    world.spawn("the life") { [self] in
      let accounts = try await act(setup)
      kept.withLock { $0 = accounts }
    }
    world.run(for: .seconds(30))
    var points: [Point] = []
    if point == nil {
      var counts = CrashCounts()
      (counts.disk, counts.requests) = (disk.trace[...], transport.count)
      for found in counts.points {
        if case .disk(let call, let bytes) = found { points.append(.disk(call, bytes: bytes)) }
        if case .request(let number, let isActedOn) = found {
          points.append(.request(number, isActedOn: isActedOn))
        }
      }
      for store in stores.indices {
        // Each change has two moments, and reads are among the calls: a later moment is never reached.
        points += (0..<stores[store].callCount * 2).map { .secret(store, moment: $0) }
      }
    }
    let died = !process.isAlive
    process.kill()
    for store in stores { store.stopFaults() }
    let left = isCut ? disk.crash(.losingAll) : disk.copy()
    return (points, try judge(left), died)
  }

  private func judge(_ disk: SimulatedDisk) throws -> [String] {
    let problems = Problems()
    let told = told.withLock { $0 }
    let process = disk.process()
    let accounts = try world.run { [self] in
      try await Accounts.open(try open(disk, process, MortalTransport(world.server, process)))
    }
    world.run(for: .seconds(60))
    let list = accounts.list
    problems.check(list.leaving.isEmpty, "a removal is not finished: \(list.leaving)")
    for (id, home) in homes.withLock({ $0 }) {
      problems.check(
        home.items.items.isEmpty || list[id] != nil, "\(home.items.items) of no account")
      let hasJournal = disk.contents(of: "\(id).journal") != nil
      problems.check(!hasJournal || list[id] != nil, "a journal of no account")
    }
    for id in told.accounts where id != told.accounts[0] || told.removed == nil {
      guard list[id] != nil || id == told.accounts[0] else {
        problems.check(false, "an account is lost")
        continue
      }
      guard list[id] != nil, told.loggedIn.contains(id) else { continue }
      let session = try world.run { try await accounts.session(of: id) }
      let mayHaveEnded = id == told.accounts[0] && told.selected != nil
      problems.check(session.isAuthenticated || mayHaveEnded, "\(id) is \(session.state)")
    }
    if let removed = told.removed {
      problems.check(removed == .success, "\(removed)")
      problems.check(list[told.accounts[0]] == nil, "it was removed, and is listed")
      problems.check(world.server.count(of: .logout) == 1, "the server was not told")
    }
    if let selected = told.selected {
      problems.check(
        list.current?.id == selected, "the current one is \(list.current, default: "none")")
    }
    let removals = try events(disk).reduce(into: [Account.ID: Bool]()) { ends, event in
      if case .ended(let id, let end) = event { ends[id] = end != nil }
      if case .removed(let id) = event {
        problems.check(ends[id] == true, "removed without its end")
      }
    }
    problems.check(removals.count <= 1, "\(removals)")
    problems.check(world.escapes.isEmpty, "something has escaped: \(world.escapes)")
    try world.run { try await accounts.close() }
    return problems.all
  }

  private func events(_ disk: SimulatedDisk) throws -> [AccountEvent] {
    var reader = try JournalReader(path: path, on: disk)
    var events: [AccountEvent] = []
    while let raw = try reader.next() {
      guard raw.kind != 0xFF else { continue }
      let record = try AccountCodec.decode(kind: raw.kind, payload: raw.payload.span.bytes)
      if case .event(let event)? = record?.content { events.append(event) }
    }
    return events
  }
}

@Suite("Accounts whose process dies")
struct AccountCrashTests {
  @Test(
    """
    ACC-1 OUT-1 after a death at any moment of adding, switching and removing, no secret is without \
    an account, and no removal without its end
    """)
  func everyMoment() throws {
    let whole = try AccountLife().live(nil, isCut: false)
    #expect(whole.problems == [])
    #expect(whole.points.count > 300)
    let deaths = whole.points.flatMap { [($0, false), ($0, true)] }
    var died = 0
    for (point, isCut) in Sweep("accounts", takingOneOf: 24).places(of: deaths) {
      do {
        let found = try AccountLife().live(point, isCut: isCut)
        #expect(found.problems == [], "\(point), cut \(isCut)")
        died += found.died ? 1 : 0
      } catch {
        Issue.record("\(point), cut \(isCut): \(error)")
      }
    }
    #expect(died > 0)
  }
}
