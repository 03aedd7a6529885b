import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization

@_spi(Internals) @testable import SessionChanges
@testable import SessionKit

/// A change log in a real folder or on a simulated disk, with a gate that a test opens and closes.
final class ChangeBench: Sendable {
  let hub = StatusHub()
  let clock = ManualClock()
  private let home: SessionFolder

  init() throws {
    home = try SessionFolder()
    signIn()
  }

  var folder: URL { home.url }
  var path: String { folder.appending(path: "changes.journal").path }
  var gate: SyncGate { SyncGate(SessionStates(hub: hub), journal: Self.journal) }
  static let journal = Identifier("00000000-0000-4000-8000-0000000000aa")

  func signIn(_ user: Identifier = "u-1", token: UInt64 = 1) {
    let time = clock.now().time
    hub.publish(
      SessionStatus(
        state: .authenticated(
          .init(
            user: user, method: .password, since: time,
            token: TokenMetadata(
              generation: Generation(token), issuedAt: time, expiresAt: time.advanced(by: 60_000),
              id: nil, isRefreshable: true), context: nil, failures: .init())), activity: .idle))
  }

  func expire(_ user: Identifier = "u-1") {
    hub.publish(
      SessionStatus(
        state: .expired(
          .init(user: user, context: nil, reason: .tokenExpired, since: clock.now().time)),
        activity: .idle))
  }

  func signOut() { hub.publish(SessionStatus(state: .unauthenticated, activity: .idle)) }

  /// The presence of a dead process, or of one in another container: no process here has its
  /// number.
  static func presence(ofProcess process: UInt32, in namespace: Identifier? = nil)
    -> OpeningPresence.Maker
  {
    { path, _, boot in
      let own = OpeningPresence.withoutLock(path, JournalOptions(), boot)
      let identity = ProcessIdentity(
        opening: Identifier(UUID().uuidString.lowercased()), boot: boot,
        namespace: namespace ?? own.identity?.namespace, start: 1)
      return OpeningPresence(identity, process: process) { own.isGone($0, $1) }
    }
  }

  func open(_ change: (inout ChangeLog.Setup) -> Void = { _ in }) async throws -> ChangeLog {
    var setup = ChangeLog.Setup()
    setup.clock = clock
    change(&setup)
    return try await ChangeLog.open(at: path, setup)
  }

  static func task(_ number: Int) -> EntityReference {
    EntityReference("task", Identifier("t\(number)"))
  }

  static func change(
    _ operation: Change.Operation, _ number: Int, key: Identifier, text: String = "text"
  ) -> Change { Change(operation, task(number), content: Array(text.utf8), key: key) }
}

/// A server that recognizes keys it has received.
final class ChangeServer: Sendable {
  private let state = Mutex<(arrivals: [Identifier], answers: [SendOutcome])>(([], []))

  /// The keys in order of arrival, with repetitions.
  var arrivals: [Identifier] { state.withLock { $0.arrivals } }

  /// The next responses, in order; then `done`.
  func answer(_ outcomes: SendOutcome...) { state.withLock { $0.answers += outcomes } }

  func clearAnswers() { state.withLock { $0.answers = [] } }

  func take(_ item: PendingChange) -> SendOutcome { take(item.change.key) }

  func take(_ key: Identifier) -> SendOutcome {
    state.withLock { state in
      state.arrivals.append(key)
      return state.answers.isEmpty ? .done : state.answers.removeFirst()
    }
  }
}

/// An event that a test triggers.
final class Signal: Sendable {
  private let state = Mutex<(isGiven: Bool, waiting: [CheckedContinuation<Void, Never>])>(
    (false, []))

  func give() {
    let waiting = state.withLock { state in
      defer { state = (true, []) }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isGiven = state.withLock { state in
        if !state.isGiven { state.waiting.append(continuation) }
        return state.isGiven
      }
      if isGiven { continuation.resume() }
    }
  }
}

/// Says that it runs, and returns after its task was cancelled.
func runUntilCancelled(_ isRunning: Signal) async {
  let isCancelled = Signal()
  await withTaskCancellationHandler {
    isRunning.give()
    await isCancelled.wait()
  } onCancel: {
    isCancelled.give()
  }
}
