import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
@_spi(Internals) import SessionTestKit
import Synchronization

/// Where a scenario is played: all that differs between a simulated world and real sockets.
///
/// Both run tasks and actors on the runner's thread and go by a clock that the runner moves.
struct ScenarioStage {
  /// Its clock and the order of its tasks.
  let world: SimulatedWorld
  let network: ScenarioNetwork
  let secrets: ScenarioSecrets
  let baseURL: URL
  /// The journal's path.
  let journal: String
  /// How a process opens journals.
  let options: (_ life: ProcessLife) -> Journal.Options
  /// The server does this with a request.
  let decide: (_ number: Int, _ fate: LoopbackFate) -> Void
  /// A journal's bytes; `nil` where there is none yet.
  let bytes: (_ path: String) throws -> [UInt8]?
  /// Puts these bytes in the journal's place; with `nil`, nothing.
  let put: (_ bytes: [UInt8]?) throws -> Void
  /// A process has died: its locks are free.
  let bury: (_ life: ProcessLife) -> Void
  /// The power fails: what was not synced is lost.
  let cut: () -> Void
  /// Ends what it began.
  let close: () -> Void
  /// The processes that have begun.
  let lives = ProcessLives()

  /// The change log's path.
  var changes: String { journal + ".changes" }

  /// What the runtime of a session is made of.
  private func runtime(_ process: String, _ life: ProcessLife) -> SessionRuntime {
    let scheduler = world.scheduler
    return SessionRuntime(
      executor: scheduler.actors(of: life),
      perform: { scheduler.add("\(process)'s disk", life.guarding($0)) },
      spawn: { scheduler.spawn(process, of: life, $0) }, jitter: { 0 })
  }

  func configuration(_ process: String, _ preset: AppPreset) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      journal: journal, secrets: secrets, preset: preset, transport: network.line(of: process),
      clock: world.clock)
    // What the system tells of a file comes when it comes: a scenario says who looks when.
    configuration.followsOthers = false
    configuration.policy.recovery.unusableJournal = .setAside
    let life = lives.life(of: process)
    configuration.journalOptions = options(life)
    // A scenario says when a lease is over; of processes nothing is proven.
    configuration.presence = lives.openings.presence(
      number: life.number, provingDeaths: false, isAlive: { !life.isOver })
    let runtime = runtime(process, life)
    configuration.runtime = { runtime }
    return configuration
  }

  /// How a process opens its change log.
  func setup(_ process: String, _ changes: ScenarioSetting.Changes) -> ChangeLog.Setup {
    let life = lives.life(of: process)
    var setup = ChangeLog.Setup()
    (setup.policy, setup.limits) = (changes.policy, changes.limits)
    (setup.clock, setup.options) = (world.clock, options(life))
    setup.runtime = runtime(process, life)
    setup.presence = lives.openings.presence(
      number: life.number, provingDeaths: true, isAlive: { !life.isOver })
    return setup
  }

  /// A process dies where it stands: nothing of it runs any more, and nothing of it is closed.
  func kill(_ process: String) {
    guard let life = lives.end(process) else { return }
    bury(life)
    network.abandon(process)
  }

  /// What went wrong with the stage itself.
  struct Stuck: Error, CustomStringConvertible {
    let description: String
  }

  /// Lets everything happen that can without time passing.
  func settle() throws(Stuck) {
    for _ in 0..<100_000 {
      guard world.run(for: .milliseconds(0)) != .restless else {
        throw Stuck(description: "the session goes in circles")
      }
      if network.deliver() { continue }
      guard network.isMoving else { return }
      guard network.waitForNews() else {
        throw Stuck(description: "a request or an answer does not arrive")
      }
    }
    throw Stuck(description: "it never comes to rest")
  }

  /// The next moment at which something may happen, on the uptime clock.
  var nextMoment: Int64? {
    [world.clock.nextDeadline, network.nextDeadline].compactMap(\.self).min()
  }

  /// Time passes to this uptime, and what is due then happens.
  func pass(to uptime: Int64) throws(Stuck) {
    world.clock.advance(by: .milliseconds(max(0, uptime - world.clock.now().uptime)))
    network.expire()
    try settle()
  }
}

/// A secret store that can be locked, as a device is before its first unlock.
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

  /// What is stored, locked or not.
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
