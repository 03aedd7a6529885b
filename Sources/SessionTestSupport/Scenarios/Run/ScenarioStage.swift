import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
@_spi(Internals) import SessionTestKit
import Synchronization

/// The environment of a run: everything that differs between a simulated world and real sockets.
///
/// In both, tasks and actors run on the runner's thread, with a clock that the runner advances.
struct ScenarioStage {
  /// The world with the clock and the scheduler.
  let world: SimulatedWorld
  let network: ScenarioNetwork
  let secrets: ScenarioSecrets
  let baseURL: URL
  /// The path of the journal.
  let journal: String
  /// Returns the options with which a process opens journals.
  let options: (_ life: ProcessLife) -> JournalOptions
  /// Gives a request this fate at the server.
  let decide: (_ number: Int, _ fate: LoopbackFate) -> Void
  /// Returns the bytes of a journal; `nil` if there is none yet.
  let bytes: (_ path: String) throws -> [UInt8]?
  /// Replaces the journal's file by these bytes; removes it if they are `nil`.
  let put: (_ bytes: [UInt8]?) throws -> Void
  /// Ends a killed process on the disk: its locks are released.
  let bury: (_ life: ProcessLife) -> Void
  /// Cuts the power: data that was not synced is lost.
  let cut: () -> Void
  /// Releases the stage's resources.
  let close: () -> Void
  /// The lives of the processes that have begun.
  let lives = ProcessLives()

  /// The path of the change log.
  var changes: String { journal + ".changes" }

  /// Returns the runtime of a session.
  private func runtime(_ process: String, _ life: ProcessLife) -> SessionRuntime {
    let (scheduler, clock) = (world.scheduler, world.clock)
    return SessionRuntime(
      executor: scheduler.actors(of: life),
      perform: { scheduler.add("\(process)'s disk", life.guarding($0)) },
      tasks: scheduler.tasks(of: life, named: process), pause: { await clock.pause($0) },
      jitter: { 0 })
  }

  func configuration(_ process: String, _ preset: AppPreset) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      journal: journal, secrets: secrets, preset: preset, transport: network.line(of: process),
      clock: world.clock)
    // Notifications of the system about files come at any time, so a scenario decides who reads
    // when.
    configuration.followsOthers = false
    configuration.policy.recovery.unusableJournal = .setAside
    let life = lives.life(of: process)
    configuration.journalOptions = options(life)
    // A scenario decides when a lease ends; the death of a process is never proven.
    configuration.presence = lives.openings.presence(
      number: life.number, provingDeaths: false, isAlive: { !life.isOver })
    let runtime = runtime(process, life)
    configuration.runtime = { runtime }
    return configuration
  }

  /// Returns the setup with which a process opens its change log.
  func setup(_ process: String, _ policy: ChangePolicy, _ limits: ChangeLogLimits)
    -> ChangeLog.Setup
  {
    let life = lives.life(of: process)
    var setup = ChangeLog.Setup()
    (setup.policy, setup.limits) = (policy, limits)
    (setup.clock, setup.options) = (world.clock, options(life))
    setup.runtime = runtime(process, life)
    setup.presence = lives.openings.presence(
      number: life.number, provingDeaths: true, isAlive: { !life.isOver })
    return setup
  }

  /// Kills a process: none of its code runs any more, and nothing is closed.
  func kill(_ process: String) {
    guard let life = lives.end(process) else { return }
    bury(life)
    network.abandon(process)
  }

  /// A failure of the stage itself.
  struct Stuck: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs everything that can happen without advancing the clock.
  func settle() throws(Stuck) {
    for _ in 0..<100_000 {
      guard world.run(for: .milliseconds(0)) != .restless else {
        throw Stuck(description: "the session runs in an endless loop")
      }
      if network.deliver() { continue }
      guard network.isMoving else { return }
      guard network.waitForNews() else {
        throw Stuck(description: "a request or an answer does not arrive")
      }
    }
    throw Stuck(description: "the session never becomes idle")
  }

  /// The uptime at which the next timer or timeout is due.
  var nextMoment: Int64? {
    [world.clock.nextDeadline, network.nextDeadline].compactMap(\.self).min()
  }

  /// Advances the clock to this uptime, and runs what is due.
  func pass(to uptime: Int64) throws(Stuck) {
    world.clock.advance(by: .milliseconds(max(0, uptime - world.clock.now().uptime)))
    network.expire()
    try settle()
  }
}

/// A secret store that can be locked, like a device before its first unlock.
///
/// - Requirement: RES-3
final class ScenarioSecrets: SecretStore {
  private let store: any SecretStore
  private let locked = Mutex(false)

  init(_ store: any SecretStore) {
    self.store = store
  }

  var isLocked: Bool {
    get { locked.withLock { $0 } }
    set { locked.withLock { $0 = newValue } }
  }

  /// Returns the stored items, whether the store is locked or not.
  func items() throws(SecretStoreError) -> Set<SecretItem> {
    var items: Set<SecretItem> = []
    for item in SecretItem.known where try store.read(item) != nil { items.insert(item) }
    return items
  }

  private func open(_ item: SecretItem) throws(SecretStoreError) -> any SecretStore {
    guard !isLocked else { throw .unavailable(item: item, place: "a locked device") }
    return store
  }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    try open(item).read(item)
  }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try open(item).write(item, bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try open(item).remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try open(item).setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try open(item).removeSetAside(item)
  }
}

/// The processes of a world by name; each life of a process has its own number.
final class ProcessLives: Sendable {
  private struct State {
    var living: [String: ProcessLife] = [:]
    var ended: [ProcessLife] = []
    var last: UInt32 = 0
  }

  /// The openings of files by these processes.
  let openings = SimulatedOpenings()
  private let state = Mutex(State())

  /// Returns the current life of a process; begins one if there is none.
  func life(of process: String) -> ProcessLife {
    state.withLock { state in
      if let life = state.living[process] { return life }
      state.last += 1
      let life = ProcessLife(number: state.last)
      state.living[process] = life
      return life
    }
  }

  /// Ends the life of a process; a later process with this name has another life.
  func end(_ process: String) -> ProcessLife? {
    state.withLock { state in
      guard let life = state.living.removeValue(forKey: process) else { return nil }
      life.end()
      state.ended.append(life)
      return life
    }
  }

  /// The names of the living processes.
  var names: [String] { state.withLock { $0.living.keys.sorted() } }
}
