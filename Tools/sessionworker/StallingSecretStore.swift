import Foundation
import SessionKit
import Synchronization

/// A secret store of files that stops its process before it reads a token, or has no room for one.
final class StallingSecretStore: SecretStore {
  private struct State {
    var readsToken = false
    var isFull = false
    var isReached = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let files: FileSecretStore
  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)

  init(folder: String) {
    files = FileSecretStore(folder: folder)
  }

  /// Makes the next read of the token item wait for ``goOn()``.
  ///
  /// The reader may hold the journal's lock then, to replace a request of another process that it
  /// presumes lost.
  func armRead() {
    state.withLock { $0.readsToken = true }
  }

  /// Takes all room for the token item, or gives it back.
  func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

  /// Lets the waiting read continue.
  func goOn() { gate.signal() }

  /// Waits until the process has reached the place.
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
    guard item != .token || !state.withLock({ $0.isFull }) else {
      throw .noSpace(item: item, place: files.folder)
    }
    try files.write(item, bytes)
  }

  private func reach() {
    let waiters = state.withLock { state in
      state.isReached = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  var reservesRoom: Bool { files.reservesRoom }

  func reserve(_ item: SecretItem, bytes: Int) throws(SecretStoreError) {
    try files.reserve(item, bytes: bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try files.remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try files.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try files.removeSetAside(item)
  }
}
