import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

/// A session that runs through random commands and faults, and is checked afterwards.
final class SimulatedLife: Sendable {
  enum Command: String, CaseIterable, Sendable {
    case login, refresh, refreshIfNeeded, switchContext, logout, cancelled
  }

  /// What happens to the session in addition to network faults.
  struct Hardships: Sendable {
    /// How many processes use the session at once.
    var processes = 1
    /// The power fails: all processes die, and unsynced sectors are kept, lost or torn.
    var powerFails = false
    /// The secrets cannot be read at times.
    var locks = false
    /// The store holds the secrets of another journal's session at the start.
    var isInherited = false
    /// The server rotates its refresh tokens and accepts each only once.
    ///
    /// No response is lost then, and a process that dies has stored its token.
    var isStrict = false
  }

  /// The problems that were found, or nothing.
  struct Findings: Sendable {
    var problems: [String] = []
    var log: [String] = []
    var journal: [SessionRecord] = []
    /// The texts that a person could have read.
    var texts: Set<String> = []
  }

  let choices: Choices
  let world: SimulatedWorld
  let keychain = SimulatedSecrets()
  let path = "session.journal"
  let hardships: Hardships
  let policy: SessionPolicy
  let disk = Mutex(SimulatedDisk())
  let homes = Mutex<[SimulatedHome]>([])
  /// The processes that are no longer used and live on.
  private let leftAlone = Mutex<[SimulatedHome]>([])
  let findings = Mutex(Findings())
  let known = Mutex(Known())
  private let opened = Mutex(0)
  private let strangers = Mutex<Set<String>>([])

  /// What callers know of who is logged in.
  struct Known: Sendable {
    var isSignedIn = false
    /// The logins and logouts whose caller received no result.
    var open = 0
    /// How many there were, and whether the last one to end was also the last one to begin.
    var count = 0
    var isSure = true

    /// The number of the last logout, if certainly no user has logged in since.
    var end: Int? { open == 0 && isSure && !isSignedIn ? count : nil }
  }

  init(_ choices: Choices, rotates: Bool, policy: SessionPolicy, hardships: Hardships = .init()) {
    self.choices = choices
    self.hardships = hardships
    self.policy = policy
    world = SimulatedWorld(choices)
    world.server.settings.rotatesRefreshTokens = rotates || hardships.isStrict
    // Otherwise the grace never ends, so that a response lost in transit does not end the session.
    world.server.settings.rotationGrace = hardships.isStrict ? .zero : .seconds(1_000_000)
  }

  private var weather: SimulatedServer.Weather {
    var weather = SimulatedServer.Weather.rough
    if hardships.isStrict { (weather.lostAnswers, weather.repetitions) = (0, 0) }
    return weather
  }

  /// Runs the life and returns the problems that were found.
  func live(commands: Int) throws -> Findings {
    defer { world.finish() }
    if hardships.isInherited { try inherit() }
    for _ in 0..<hardships.processes { try open() }
    world.run(for: .seconds(1))
    check(homes.withLock { $0 }.allSatisfy { $0.current?.state == .unauthenticated }, "not new")
    world.server.weather = weather
    for _ in 0..<commands {
      let home = choices.pick(homes.withLock { $0 })
      if let home { issue(choices.pick(Command.allCases) ?? .login, in: home) }
      // Sometimes the next command follows at once.
      if choices.chance(1, in: 3) { continue }
      let isLong = choices.chance(1, in: 8)
      run(for: isLong ? 3_300_000 : Int64(choices.draw(in: 0...2_000)))
      checkHeld()
      try suffer()
    }
    try settle()
    world.attach(journal: path, of: disk.withLock { $0 })
    return findings.withLock { $0 }
  }

  func run(for milliseconds: Int64) {
    check(world.run(for: .milliseconds(milliseconds)) != .restless, "it goes in circles")
  }

  // MARK: Processes

  /// Another session has left its secrets and no journal, as after the restore of a backup.
  private func inherit() throws {
    let process = disk.withLock { $0.process() }
    let configuration = try world.configuration(
      journal: "other.journal", in: process, secrets: keychain.view(of: process), policy: policy)
    world.spawn("another session") { [self] in
      let session = try await Session.open(configuration)
      try await session.login(credentials)
      try await session.close()
    }
    run(for: 1_000)
    // While that journal exists, its secrets would be refused.
    try Journal.delete(at: "other.journal", options: .on(process))
    strangers.withLock { $0 = owners(of: keychain.items.items) }
  }

  /// The journals that own the items.
  private func owners(of items: Set<SecretItem>) -> Set<String> {
    var owners: Set<String> = []
    for item in items {
      do {
        guard let bytes = try keychain.items.read(item) else { continue }
        let fields = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        if let owner = fields?["journal"] as? String { owners.insert(owner) }
      } catch {
        check(false, "the \(item) item: \(error)")
      }
    }
    return owners
  }

  /// The items that belong to this journal.
  var ownItems: Set<SecretItem> {
    let strangers = strangers.withLock { $0 }
    return keychain.items.items.filter { owners(of: [$0]).isDisjoint(with: strangers) }
  }

  func open() throws {
    let process = disk.withLock { $0.process() }
    let number = opened.withLock { count in
      count += 1
      return count
    }
    let home = SimulatedHome(number, process)
    homes.withLock { $0.append(home) }
    var configuration = try world.configuration(
      journal: path, in: process, secrets: home.store(keychain), policy: policy,
      // Here the lease decides. The crash sweep proves that processes died.
      provingDeaths: false)
    configuration.http.transport = MortalTransport(world.server, process)
    world.spawn("open \(number)") { [self, configuration] in
      do throws(SessionError) {
        let opened = try await Session.open(configuration)
        home.session.withLock { $0 = opened }
        listen(to: opened, in: home)
      } catch {
        check(!home.isAlive, "it could not be opened: \(error)")
      }
    }
    world.run(for: .milliseconds(0))
  }

  private func listen(to session: Session, in home: SimulatedHome) {
    let events = session.events(after: 0)
    world.spawn("listener \(home.number)") { [self] in
      do throws(SessionError) {
        for try await event in events { read("\(event) \(event.event)") }
      } catch {
        check(!home.isAlive, "the events end: \(error)")
      }
    }
  }

  // MARK: What happens

  private func suffer() throws {
    if homes.withLock({ $0.contains { !$0.isAlive } }) {
      return try hardships.isStrict ? bury() : cut()
    }
    guard choices.chance(1, in: 5) else { return }
    var options: [() throws -> Void] = []
    if hardships.powerFails { options += [cut, arm, armDisk] }
    if hardships.locks { options.append(lock) }
    if hardships.processes > 1 { options.append(replace) }
    try choices.pick(options)?()
  }

  /// The power fails.
  private func cut() throws {
    note("power cut")
    keychain.blow(after: nil)
    for home in homes.withLock({ $0 }) + leftAlone.withLock({ $0 }) { home.process.kill() }
    homes.withLock { $0 = [] }
    disk.withLock { $0 = $0.crash(choices) }
    for _ in 0..<hardships.processes { try open() }
    checkReopened()
  }

  /// The other processes live on after one has died, and a new one begins.
  private func bury() throws {
    homes.withLock { $0.removeAll { !$0.isAlive } }
    known.withLock { $0.isSure = false }
    try open()
  }

  private func arm() {
    let moments = choices.draw(in: 0...9)
    note("the power will fail at the \(moments + 1). moment of the keychain")
    keychain.blow(after: moments)
  }

  private func armDisk() {
    let call = choices.draw(in: 0...29)
    note("the power will fail \(call) calls later")
    disk.withLock { $0.fail(atCall: $0.callCount + call, with: .death(afterBytes: 0)) }
  }

  private func lock() {
    keychain.items.isAvailable.toggle()
    note("the secrets are \(keychain.items.isAvailable ? "unlocked" : "locked")")
  }

  /// The first process is no longer used, closes or dies, and a new one begins.
  private func replace() throws {
    let home = homes.withLock { $0.removeFirst() }
    switch choices.draw(below: 3) {
    case 0:
      note("\(home.number) closes")
      guard let session = home.current else { break }
      world.spawn("close \(home.number)") { [self] in
        do { try await session.close() } catch { check(false, "closing: \(error)") }
      }
    case 1:
      note("\(home.number) is left alone")
      leftAlone.withLock { $0.append(home) }
    case _ where hardships.isStrict:
      // The process lives until then, and dies between storing its token and journaling the event.
      note("\(home.number) will die behind its next token")
      home.diesWithToken.withLock { $0 = true }
      return homes.withLock { $0.append(home) }
    default:
      note("\(home.number) dies")
      home.process.kill()
      // No caller received the result of its commands, and the journal may hold it.
      known.withLock { $0.isSure = $0.isSure && $0.open == 0 }
    }
    try open()
  }

  private func issue(_ command: Command, in home: SimulatedHome) {
    guard let session = home.current else { return }
    note("\(command) in \(home.number)")
    let decides = command == .login || command == .logout
    let (number, end, isAlone) = known.withLock { known in
      let (end, isAlone) = (known.end, known.open == 0)
      known.open += decides ? 1 : 0
      known.count += decides ? 1 : 0
      return (known.count, end, isAlone)
    }
    home.waiting.withLock { $0 += 1 }
    let task = world.spawn("\(command) in \(home.number)") { [self] in
      defer { home.waiting.withLock { $0 -= 1 } }
      do throws(SessionError) {
        switch command {
        case .login: try await session.login(credentials)
        case .refresh, .cancelled: try await session.refresh()
        case .refreshIfNeeded: try await session.accessToken()
        case .switchContext: try await session.switchContext(to: coordinator)
        case .logout: try await session.logout()
        }
        guard home.isAlive else { return }
        note("  \(command) in \(home.number) done")
        if decides { conclude(command, number, isAlone) }
        if command == .refresh, let end {
          check(known.withLock { $0.end } != end, "a refresh after a logout that was told")
        }
      } catch {
        guard home.isAlive else { return }
        if command == .login || decides && error.leavesNoDoubt { known.withLock { $0.open -= 1 } }
        note("  \(command) in \(home.number): \(error)")
      }
    }
    if command == .cancelled { task.cancel() }
  }

  /// Commands that are issued at the same time run in any order, so only one that was alone is certain.
  private func conclude(_ command: Command, _ number: Int, _ isAlone: Bool) {
    known.withLock { known in
      known.open -= 1
      known.isSignedIn = command == .login
      known.isSure = isAlone && known.count == number
    }
  }

  // MARK: Tools

  private var credentials: Credential {
    Credential.password(LoopbackUser.sample.email, LoopbackUser.sample.password)
  }

  private var coordinator: ContextTarget {
    let context = LoopbackContext.coordinator
    return ContextTarget(
      role: Identifier(context.roleID), school: Identifier(context.schoolID), unit: nil)
  }

  private func note(_ text: String) {
    choices.step(text)
    read(text)
    findings.withLock { $0.log.append("\(world.clock.now().uptime): \(text)") }
  }

  /// A text that a person could read.
  func read(_ text: String) {
    findings.withLock { _ = $0.texts.insert(text) }
  }

  func check(_ holds: Bool, _ problem: @autoclosure () -> String) {
    guard !holds else { return }
    let problem = problem()
    findings.withLock { $0.problems.append(problem) }
  }
}

extension SessionError {
  /// Whether the error proves that nothing changed.
  fileprivate var leavesNoDoubt: Bool {
    switch failure {
    case .alreadySignedIn, .signInUnderWay, .otherUsersSession: true
    default: false
    }
  }
}
