@_spi(Internals) import SessionCore
import SessionKit
import Synchronization

/// The lines that hosts write.
final class Diary: Sendable {
  private let state = Mutex<[String]>([])

  var lines: [String] { state.withLock { $0 } }
  func note(_ line: String) { state.withLock { $0.append(line) } }
}

/// A gate at which tasks wait until a test opens it, even if they are cancelled.
final class Gate: Sendable {
  private let state: Mutex<(isShut: Bool, waiters: [CheckedContinuation<Void, Never>])>

  init(isShut: Bool = true) { state = Mutex((isShut, [])) }

  /// The number of tasks that wait.
  var count: Int { state.withLock { $0.waiters.count } }

  func shut() { state.withLock { $0.isShut = true } }

  func open() {
    let waiters = state.withLock { state in
      defer { state = (false, []) }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.isShut { state.waiters.append(continuation) }
        return !state.isShut
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A host that records each call.
final class DiaryHost: SessionHost {
  let name: String
  let diary: Diary
  let hasUserData: Bool
  let separatesSignIns: Bool
  let count = Mutex(0)
  let failures = Mutex(0)
  let ended = Mutex<[EndedSession]>([])
  private let preparing = Mutex<(@Sendable () async -> Void)?>(nil)
  private let ending = Mutex<(@Sendable () async -> Void)?>(nil)

  init(
    _ name: String, _ diary: Diary, hasUserData: Bool = true, separatesSignIns: Bool = false
  ) {
    (self.name, self.diary) = (name, diary)
    (self.hasUserData, self.separatesSignIns) = (hasUserData, separatesSignIns)
  }

  /// What happens in the next preparation, after it is recorded.
  func onPreparation(_ work: @escaping @Sendable () async -> Void) {
    preparing.withLock { $0 = work }
  }

  /// What happens in the next end, after it is recorded.
  func onEnd(_ work: @escaping @Sendable () async -> Void) { ending.withLock { $0 = work } }

  func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int {
    diary.note("\(name) prepares, \(user.map { "\($0)" } ?? "nobody") in \(journal)")
    let found = count.withLock { $0 }
    await preparing.withLock { $0.take() }?()
    return found
  }

  func cancelLogout(journal: Identifier) async { diary.note("\(name) cancels in \(journal)") }

  func sessionEnded(_ session: EndedSession) async throws {
    diary.note("\(name) ends")
    ended.withLock { $0.append(session) }
    await ending.withLock { $0.take() }?()
    let isToFail = failures.withLock { failures in
      defer { failures = max(0, failures - 1) }
      return failures > 0
    }
    if isToFail { throw CancellationError() }
  }
}
