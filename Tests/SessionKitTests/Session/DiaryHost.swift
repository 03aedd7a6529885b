@_spi(Internals) import SessionCore
import SessionKit
import Synchronization

/// The lines that hosts write.
final class Diary: Sendable {
  private let state = Mutex<[String]>([])

  var lines: [String] { state.withLock { $0 } }
  func note(_ line: String) { state.withLock { $0.append(line) } }
}

/// A gate at which a host waits until a test opens it, even if its task is cancelled.
final class HostGate: Sendable {
  private let ends: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation

  init() { (ends, end) = AsyncStream.makeStream(of: Void.self) }

  func pass() async {
    let ends = ends
    await Task { for await _ in ends {} }.value
  }

  func open() { end.finish() }
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
