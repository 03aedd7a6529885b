public import Foundation
public import Logging
public import ServiceLifecycle
public import SessionKit

/// The sessions of a server's users, each in a folder of its own: opened on demand, closed when idle.
///
/// A session is found by the key of its account, which is no secret. The browser's cookie names the key, and proves
/// that it may use it (``Cookies``).
public actor Accounts: Service {
  /// Why there is no session for a request.
  public enum Problem: Error, Sendable {
    /// All places are taken by sessions that are in use.
    case busy
    /// The server stops.
    case stopping
  }

  private struct Entry {
    let opening: Task<Session, any Error>
    var uses = 0
    var lastUse = ContinuousClock.now
  }

  private let folder: URL
  private let maximum: Int
  private let idle: Duration
  private let configuration: @Sendable (URL) -> SessionConfiguration
  private var entries: [String: Entry] = [:]
  private var closing: [String: Task<Void, Never>] = [:]
  private var isStopping = false
  private let logger: Logger

  /// Creates the store.
  ///
  /// - Parameters:
  ///   - folder: the place of all accounts, a folder for each.
  ///   - maximum: how many sessions may be open at once.
  ///   - idle: how long a session stays open after its last use.
  ///   - configuration: makes the configuration of the session in a folder.
  public init(
    in folder: URL, maximum: Int = 1_000, idle: Duration = .seconds(300), logger: Logger,
    configuration: @escaping @Sendable (URL) -> SessionConfiguration
  ) {
    (self.folder, self.maximum, self.idle) = (folder, maximum, idle)
    (self.configuration, self.logger) = (configuration, logger)
  }

  /// The number of sessions that are open, or being opened.
  public var openCount: Int { entries.count }

  /// Returns the folder of an account.
  public nonisolated func folder(of key: String) -> URL { folder.appending(path: key) }

  /// Does some work with the session of an account, which stays open until the work ends.
  @discardableResult
  public func withSession<Value: Sendable>(
    of key: String, _ work: @Sendable (Session) async throws -> Value
  ) async throws -> Value {
    let session = try await open(key)
    defer { release(key) }
    return try await work(session)
  }

  /// Closes an account's session, and removes its folder.
  ///
  /// Call it after a logout, which has revoked the tokens.
  public func remove(_ key: String) async throws {
    await close(key)
    let folder = folder(of: key)
    if FileManager.default.fileExists(atPath: folder.path) {
      try FileManager.default.removeItem(at: folder)
    }
  }

  /// Closes idle sessions until a graceful shutdown, and then all of them.
  public func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do { try await Task.sleep(for: self.idle / 2) } catch { return }
        await self.closeIdle()
      }
    }
    isStopping = true
    await withTaskGroup(of: Void.self) { group in
      for key in entries.keys { group.addTask { await self.close(key) } }
    }
  }

  private func open(_ key: String) async throws -> Session {
    // A session that is being closed must have ended before its files are opened again.
    while let end = closing[key] { await end.value }
    guard !isStopping else { throw Problem.stopping }
    if entries[key] == nil {
      if entries.count >= maximum {
        guard let oldest = idleKeys.first else { throw Problem.busy }
        Task { await self.close(oldest) }
      }
      let settings = configuration(folder(of: key))
      entries[key] = Entry(opening: Task { try await Session.open(settings) })
    }
    entries[key]?.uses += 1
    guard let opening = entries[key]?.opening else { throw Problem.busy }
    do {
      return try await opening.value
    } catch {
      release(key)
      // The next request tries again.
      if entries[key]?.uses == 0 { entries[key] = nil }
      throw error
    }
  }

  private func release(_ key: String) {
    entries[key]?.uses -= 1
    entries[key]?.lastUse = .now
  }

  /// The accounts that nothing uses now, the one that was used least recently first.
  private var idleKeys: [String] {
    entries.filter { $0.value.uses == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
  }

  private func closeIdle() async {
    for key in idleKeys where (entries[key]?.lastUse).map({ .now - $0 > idle }) == true {
      await close(key)
    }
  }

  private func close(_ key: String) async {
    guard let entry = entries.removeValue(forKey: key) else { return }
    let end = Task {
      do {
        _ = try await entry.opening.value.close()
      } catch {
        // It explains a later end of the session.
        logger.error("a session was not closed in order", metadata: ["error": "\(error)"])
      }
      closing[key] = nil
    }
    closing[key] = end
    await end.value
  }
}
