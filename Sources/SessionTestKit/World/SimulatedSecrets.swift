public import SessionKit
import Synchronization

/// The secrets of a simulated device: a write is durable at once, and calls fail when a test asks
/// for it.
///
/// ```swift
/// let secrets = SimulatedSecrets()
/// secrets.fail(atCall: secrets.callCount + 3, with: .before(.noSpace(item: .token, place: "x")))
/// let configuration = try world.configuration(in: process, secrets: secrets.view(of: process))
/// ```
///
/// - Requirement: TST-2
public final class SimulatedSecrets: Sendable {
  /// A fault of one call.
  public enum Fault: Hashable, Sendable {
    /// The call does nothing and throws.
    case before(SecretStoreError)
    /// The call takes effect and throws.
    case after(SecretStoreError)
    /// The process dies before the call takes effect.
    case deathBefore
    /// The process dies after the call has taken effect.
    case deathAfter
  }

  private struct State {
    var calls = 0
    var script: [Int: Fault] = [:]
    var chance: (choices: Choices, oneIn: UInt64)?
    /// The number of moments before the one at which the process dies; `nil` if none dies.
    var fuse: Int?
    var separatesRefreshToken = false
  }

  /// The items that all processes have stored; `items.isAvailable` locks and unlocks them.
  public let items = MemorySecretStore()
  private let state = Mutex(State())

  /// Creates an empty store without faults.
  public init() {}

  /// Whether the refresh token is stored as an item of its own.
  ///
  /// - Requirement: STO-2
  public var separatesRefreshToken: Bool {
    get { state.withLock { $0.separatesRefreshToken } }
    set { state.withLock { $0.separatesRefreshToken = newValue } }
  }

  /// The number of calls of all processes so far, which is also the number of the next call.
  public var callCount: Int { state.withLock { $0.calls } }

  /// Makes the call with this number fail; calls of all processes are counted, from 0.
  ///
  /// For a call that only reads, it makes no difference whether the fault comes before or after.
  public func fail(atCall number: Int, with fault: Fault) {
    state.withLock { $0.script[number] = fault }
  }

  /// Makes each later call fail with a chance of 1 in `oneIn`, by draws; 0 stops this.
  ///
  /// Such a call does nothing, and throws that the store is not available.
  public func drawFaults(from choices: Choices, oneIn: UInt64) {
    state.withLock { $0.chance = oneIn == 0 ? nil : (choices, oneIn) }
  }

  /// Kills the process that reaches the moment with this number, from 0; `nil` cancels this.
  ///
  /// Each change has two moments: one before it and one after it.
  package func blow(after moments: Int?) {
    state.withLock { $0.fuse = moments }
  }

  /// Removes all faults that have not occurred yet.
  public func stopFaults() {
    state.withLock { ($0.script, $0.chance, $0.fuse) = ([:], nil, nil) }
  }

  /// Returns the store as a process sees it; after the end of the process all its calls fail.
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
