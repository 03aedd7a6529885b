import Foundation
import SessionKit
import Synchronization

/// Files as a secret store, and a place at which its process goes no further: between the token item and
/// the event that announces it, or between the event of a logout and what telling the server needs.
final class StallingSecretStore: SecretStore {
  private struct State {
    var item: SecretItem?
    var readsToken = false
    var isReached = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let files: FileSecretStore
  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)

  init(folder: String) {
    files = FileSecretStore(folder: folder)
  }

  /// Whoever stores such an item goes no further: behind a token, before a revocation.
  func arm(_ item: SecretItem) {
    state.withLock { $0.item = item }
  }

  /// The next process that reads the token item waits for ``goOn()``: under the journal's lock, if it is
  /// about to take another one's request for lost.
  func armRead() {
    state.withLock { $0.readsToken = true }
  }

  /// Lets it go on.
  func goOn() { gate.signal() }

  /// Waits until a process is there.
  func stalled() async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if !state.isReached { state.waiters.append(continuation) }
        return state.isReached
      }
      if isReached { continuation.resume() }
    }
  }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let isArmed = state.withLock { state in
      defer { if item == .token { state.readsToken = false } }
      return item == .token && state.readsToken
    }
    if isArmed {
      reach()
      gate.wait()
    }
    return try files.read(item)
  }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    let isArmed = state.withLock { $0.item == item }
    if item != .revocation || !isArmed { try files.write(item, bytes) }
    guard isArmed else { return }
    reach()
    // Until a signal ends it: nothing else can.
    while true { sleep(1_000) }
  }

  private func reach() {
    let waiters = state.withLock { state in
      state.isReached = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try files.remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try files.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try files.removeSetAside(item)
  }
}
