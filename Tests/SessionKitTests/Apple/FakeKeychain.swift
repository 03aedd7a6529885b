import Synchronization

@testable import SessionKit

/// A keychain in memory with the rules that matter.
///
/// Each name has one item. Reading or changing a protected item needs biometry, and adding one does
/// not. After a given number of calls the process counts as dead.
final class FakeKeychain: KeychainDoor {
  struct Item: Equatable {
    var bytes: [UInt8]
    var isProtected: Bool
    var isAccessible = true
  }

  struct Call: Equatable {
    let name: String
    let query: KeychainQuery
  }

  private struct State {
    var items: [String: Item] = [:]
    var calls: [Call] = []
    var isUnlocked = true
    var isPresent = false
    var callsLeft = Int.max
    var refusal: Int32?
    var refusesOnlyDeletions = false
  }

  private let state = Mutex(State())

  /// Whether the device was unlocked since it started.
  var isUnlocked: Bool {
    get { state.withLock { $0.isUnlocked } }
    set { state.withLock { $0.isUnlocked = newValue } }
  }

  /// Whether the user has authenticated.
  var isPresent: Bool {
    get { state.withLock { $0.isPresent } }
    set { state.withLock { $0.isPresent = newValue } }
  }

  /// How many calls take effect before the process is dead.
  ///
  /// Later calls have no effect.
  var callsLeft: Int {
    get { state.withLock { $0.callsLeft } }
    set { state.withLock { $0.callsLeft = newValue } }
  }

  /// The status that every call returns from now on, without an effect.
  var refusal: Int32? {
    get { state.withLock { $0.refusal } }
    set { state.withLock { $0.refusal = newValue } }
  }

  /// Whether the refusal is of deletions only.
  var refusesOnlyDeletions: Bool {
    get { state.withLock { $0.refusesOnlyDeletions } }
    set { state.withLock { $0.refusesOnlyDeletions = newValue } }
  }

  var items: [String: Item] { state.withLock { $0.items } }
  var calls: [Call] { state.withLock { $0.calls } }

  /// Another finger was enrolled, which deletes the items that the old fingers protect.
  func changeEnrolment() {
    state.withLock { state in state.items = state.items.filter { !$0.value.isProtected } }
  }

  func copy(_ query: KeychainQuery) -> (status: Int32, bytes: [UInt8]?) {
    perform("copy", query) { state, name in
      guard let item = state.items[name] else { return (-25300, nil) }
      if item.isProtected, !state.isPresent { return (-25308, nil) }
      return (0, item.bytes)
    }
  }

  func add(_ query: KeychainQuery) -> Int32 {
    perform("add", query) { state, name in
      guard state.items[name] == nil else { return (-25299, nil) }
      guard case .bytes(let bytes)? = query.values[.value] else { return (-50, nil) }
      state.items[name] = Item(
        bytes: bytes, isProtected: query.values[.accessControl] == .currentBiometryThisDeviceOnly)
      return (0, nil)
    }.status
  }

  func update(_ query: KeychainQuery, to changes: KeychainQuery) -> Int32 {
    perform("update", query) { state, name in
      guard var item = state.items[name] else { return (-25300, nil) }
      if item.isProtected, !state.isPresent { return (-25308, nil) }
      if case .bytes(let bytes)? = changes.values[.value] { item.bytes = bytes }
      state.items[name] = item
      if case .text(let account)? = changes.values[.account] {
        guard state.items[account] == nil else { return (-25299, nil) }
        state.items[account] = state.items.removeValue(forKey: name)
      }
      return (0, nil)
    }.status
  }

  func delete(_ query: KeychainQuery) -> Int32 {
    perform("delete", query) { state, name in
      state.items.removeValue(forKey: name) == nil ? (-25300, nil) : (0, nil)
    }.status
  }

  private func perform(
    _ name: String, _ query: KeychainQuery,
    _ body: (inout State, String) -> (status: Int32, bytes: [UInt8]?)
  ) -> (status: Int32, bytes: [UInt8]?) {
    state.withLock { state in
      state.calls.append(Call(name: name, query: query))
      guard state.callsLeft > 0 else { return (-25308, nil) }
      state.callsLeft -= 1
      if let refusal = state.refusal, !state.refusesOnlyDeletions || name == "delete" {
        return (refusal, nil)
      }
      guard state.isUnlocked else { return (-25308, nil) }
      guard case .text(let account)? = query.values[.account] else { return (-50, nil) }
      return body(&state, account)
    }
  }
}

extension KeychainItems {
  /// Items of a fake keychain.
  init(_ door: FakeKeychain, _ protection: KeychainProtection = .afterFirstUnlock) {
    self.init(
      door: door, service: "edugo", accessGroup: "group.edugo", names: FileSecretStore.Names(),
      protection: protection)
  }
}
