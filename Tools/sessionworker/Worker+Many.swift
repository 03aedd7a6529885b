import Foundation
import SessionKit
import Synchronization

/// Many sessions in one process, and what they cost.
extension Worker {
  /// Performs a command about many sessions; returns a number, or `nil` if it is another command.
  func many(_ name: String, _ arguments: [String]) async throws -> Int? {
    switch (name, arguments.first.flatMap(Int.init)) {
    case ("many", let count?): try await openMany(count)
    case ("closeall", nil): try await closeMany()
    case ("threads", nil): try entries(of: "/proc/self/task")
    case ("descriptors", nil): try entries(of: "/proc/self/fd")
    case ("inotify", nil): try inotifyInstances()
    default: nil
    }
  }

  /// Opens sessions in folders beside the journal; returns how many are open then.
  private func openMany(_ count: Int) async throws -> Int {
    try await withThrowingTaskGroup(of: Session.self) { group in
      for number in 0..<count {
        let folder = configuration.journal + "-many/\(number)"
        var next = SessionConfiguration(
          directory: URL(fileURLWithPath: folder), backend: configuration.backend,
          secrets: FileSecretStore(folder: folder), policy: configuration.policy)
        next.followsOthers = configuration.followsOthers
        let ready = next
        group.addTask { try await Session.open(ready) }
      }
      for try await session in group { others.withLock { $0.append(session) } }
    }
    return others.withLock { $0.count }
  }

  /// Closes those sessions; returns how many there were.
  private func closeMany() async throws -> Int {
    let sessions = others.withLock { sessions in
      defer { sessions = [] }
      return sessions
    }
    for session in sessions { try await session.close() }
    return sessions.count
  }

  private func entries(of folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder).count
  }

  private func inotifyInstances() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      // A descriptor that another thread has closed meanwhile leads nowhere.
      var target = [CChar](repeating: 0, count: 64)
      let length = readlink("/proc/self/fd/\(name)", &target, target.count)
      guard length > 0 else { return false }
      return String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        == "anon_inode:inotify"
    }
  }
}
