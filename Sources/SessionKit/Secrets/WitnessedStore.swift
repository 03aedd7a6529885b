@_spi(Internals) import SessionCore
import Synchronization

/// A secret store that reports its failures, so that they can be journaled.
///
/// - Requirement: STO-5
struct WitnessedStore: SecretStore {
  private let store: any SecretStore
  private let witness: StoreWitness

  init(_ store: any SecretStore, _ witness: StoreWitness) {
    self.store = store
    self.witness = witness
  }

  var separatesRefreshToken: Bool { store.separatesRefreshToken }
  var reservesRoom: Bool { store.reservesRoom }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    do throws(SecretStoreError) {
      let bytes = try store.read(item)
      witness.saw(.read, item, nil)
      return bytes
    } catch {
      // A separate refresh token requires the user's presence, so `unavailable` is no failure there
      // (STO-2).
      if item != .refreshToken || !error.isUnavailable { witness.saw(.read, item, error) }
      throw error
    }
  }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try watch(.write, item) { () throws(SecretStoreError) in try store.write(item, bytes) }
  }

  func reserve(_ item: SecretItem, bytes: Int) throws(SecretStoreError) {
    // No write: a failing write after a request tells others that this process has its response (REF-21).
    try watch(.reserve, item) { () throws(SecretStoreError) in
      try store.reserve(item, bytes: bytes)
    }
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) {
    try watch(.remove, item) { () throws(SecretStoreError) in try store.remove(item) }
  }

  func setAside(_ item: SecretItem) throws(SecretStoreError) {
    try watch(.setAside, item) { () throws(SecretStoreError) in try store.setAside(item) }
  }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try watch(.remove, item) { () throws(SecretStoreError) in try store.removeSetAside(item) }
  }

  private func watch(
    _ operation: StorageOperation, _ item: SecretItem, _ work: () throws(SecretStoreError) -> Void
  ) throws(SecretStoreError) {
    do throws(SecretStoreError) { try work() } catch {
      witness.saw(operation, item, error)
      throw error
    }
    witness.saw(operation, item, nil)
  }
}

/// Collects changes in what a secret store did, until the coordinator receives them.
final class StoreWitness: Sendable {
  private struct Subject: Hashable {
    let item: SecretItem
    let operation: StorageOperation
  }

  private let state = Mutex((failing: Set<Subject>(), reports: [StorageReport]()))

  func saw(_ operation: StorageOperation, _ item: SecretItem, _ error: SecretStoreError?) {
    // Nearly every call succeeds, as the one before.
    if error == nil, state.withLock({ $0.failing.isEmpty }) { return }
    let subject = Subject(item: item, operation: operation)
    let report = StorageReport(
      item: item, operation: operation, failure: error.map(StorageReport.Failure.init))
    state.withLock { state in
      let isChanged =
        error == nil
        ? state.failing.remove(subject) != nil : state.failing.insert(subject).inserted
      if isChanged { state.reports.append(report) }
    }
  }

  /// Returns what has changed since the last call.
  func takeReports() -> [StorageReport] {
    state.withLock { state in
      defer { state.reports = [] }
      return state.reports
    }
  }
}

extension SecretStoreError {
  fileprivate var isUnavailable: Bool {
    if case .unavailable = self { true } else { false }
  }
}

extension StorageReport.Failure {
  init(_ error: SecretStoreError) {
    switch error {
    case .unavailable: self.init(.unavailable)
    case .accessDenied(_, _, _, let code): self.init(.refused, number: Int64(code))
    case .notFound, .storedElsewhere: self.init(.missing)
    case .newerVersion: self.init(.newerVersion)
    case .notWritable: self.init(.refused)
    case .noSpace, .noRoomForNext: self.init(.noRoom)
    case .obstructed: self.init(.obstructed)
    case .tooLarge: self.init(.tooLarge)
    case .otherBackend: self.init(.refused)
    case .failed(_, _, _, let code): self.init(.failed, number: Int64(code))
    }
  }
}
