public import SessionKit
import Synchronization

/// The secrets of a device: what is written is durable at once, and what a test says fails.
///
/// ```swift
/// let secrets = SimulatedSecrets()
/// secrets.fail(atCall: secrets.callCount + 3, with: .before(.noSpace(item: .token, place: "x")))
/// let configuration = try world.configuration(in: process, secrets: secrets.view(of: process))
/// ```
///
/// - Requirement: TST-2
public final class SimulatedSecrets: Sendable {
  /// What goes wrong with one call.
  public enum Fault: Hashable, Sendable {
    /// Nothing is done, and the call throws.
    case before(SecretStoreError)
    /// It is done, and the call throws all the same.
    case after(SecretStoreError)
    /// The process dies before anything is done.
    case deathBefore
    /// The process dies when it is done.
    case deathAfter
  }

  private struct State {
    var calls = 0
    var script: [Int: Fault] = [:]
    var chance: (choices: Choices, oneIn: UInt64)?
    /// How many moments are left until the process dies that is at it; none where nil.
    var fuse: Int?
    var separatesRefreshToken = false
  }

  /// What is stored, by whichever process; `items.isAvailable` locks and unlocks it.
  public let items = MemorySecretStore()
  private let state = Mutex(State())

  /// Nothing stored, and nothing fails.
  public init() {}

  /// Whether the refresh token is to be an item of its own.
  ///
  /// - Requirement: STO-2
  public var separatesRefreshToken: Bool {
    get { state.withLock { $0.separatesRefreshToken } }
    set { state.withLock { $0.separatesRefreshToken = newValue } }
  }

  /// How many calls were made by all processes; the number that the next one has.
  public var callCount: Int { state.withLock { $0.calls } }

  /// Lets the call of that number fail; calls are counted over all processes, from 0.
  ///
  /// A call that only reads does nothing that could be done before a fault.
  public func fail(atCall number: Int, with fault: Fault) {
    state.withLock { $0.script[number] = fault }
  }

  /// Lets each call from now on fail with a chance of 1 in `oneIn`, by draws; never where that is 0.
  ///
  /// Such a call does nothing and says that the store is not available.
  public func drawFaults(from choices: Choices, oneIn: UInt64) {
    state.withLock { $0.chance = oneIn == 0 ? nil : (choices, oneIn) }
  }

  /// Whoever reaches the moment of that number dies: two moments are in each change, before and after
  /// it; `nil` takes it back.
  package func blow(after moments: Int?) {
    state.withLock { $0.fuse = moments }
  }

  /// Takes back every fault that has not struck.
  public func stopFaults() {
    state.withLock { ($0.script, $0.chance, $0.fuse) = ([:], nil, nil) }
  }

  /// The store as a process sees it: nothing any more, once that is dead.
  public func view(of process: SimulatedProcess) -> any SecretStore {
    View(secrets: self, process: process)
  }

  private func burns() -> Bool {
    state.withLock { state in
      guard let left = state.fuse else { return false }
      state.fuse = left > 0 ? left - 1 : nil
      return left == 0
    }
  }

  private func fault(_ item: SecretItem) -> Fault? {
    let (scripted, chance) = state.withLock { state in
      let number = state.calls
      state.calls += 1
      return (state.script.removeValue(forKey: number), state.chance)
    }
    if let scripted { return scripted }
    guard let chance, chance.choices.chance(1, in: chance.oneIn) else { return nil }
    return .before(.unavailable(item: item, place: "a simulated store"))
  }

  private struct View: SecretStore {
    let secrets: SimulatedSecrets
    let process: SimulatedProcess

    var separatesRefreshToken: Bool { secrets.separatesRefreshToken }

    func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
      try perform(item) { () throws(SecretStoreError) in try secrets.items.read(item) }
    }

    func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try secrets.items.write(item, bytes) }
    }

    func remove(_ item: SecretItem) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try secrets.items.remove(item) }
    }

    func setAside(_ item: SecretItem) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try secrets.items.setAside(item) }
    }

    func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try secrets.items.removeSetAside(item) }
    }

    private func change(
      _ item: SecretItem, _ body: () throws(SecretStoreError) -> Void
    ) throws(SecretStoreError) {
      try moment(item)
      try perform(item, body)
      try moment(item)
    }

    private func perform<Value>(
      _ item: SecretItem, _ body: () throws(SecretStoreError) -> Value
    ) throws(SecretStoreError) -> Value {
      try live(item)
      switch secrets.fault(item) {
      case nil:
        return try body()
      case .before(let error):
        throw error
      case .after(let error):
        _ = try body()
        throw error
      case .deathBefore:
        process.kill()
      case .deathAfter:
        _ = try body()
        process.kill()
      }
      throw dead(item)
    }

    private func moment(_ item: SecretItem) throws(SecretStoreError) {
      if secrets.burns() { process.kill() }
      try live(item)
    }

    private func live(_ item: SecretItem) throws(SecretStoreError) {
      guard process.isAlive else { throw dead(item) }
    }

    private func dead(_ item: SecretItem) -> SecretStoreError {
      .unavailable(item: item, place: "a dead process")
    }
  }
}
