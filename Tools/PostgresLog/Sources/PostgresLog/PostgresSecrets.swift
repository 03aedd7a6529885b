public import SessionCore
public import SessionKit
internal import Synchronization

/// The secrets of a key, in the same schema as its log.
///
/// Within a decision of ``PostgresLog/transact(_:)`` on the same thread, each call is a part of that
/// transaction. Elsewhere it is a transaction of its own. If a call fails within a decision, the
/// transaction can append nothing any more.
///
/// - Requirement: SCL-1, STO-2
public struct PostgresSecrets: SecretStore {
  /// The largest item, in bytes.
  public static let maximumSize = 1 << 20

  /// The key of the log.
  public let key: String

  let database: PostgresDatabase
  let seal: (any SecretSeal)?

  /// Creates the store of a key; `seal` encrypts each item in this process, nil stores plain bytes.
  public init(key: String, database: PostgresDatabase, seal: (any SecretSeal)? = nil) {
    (self.key, self.database, self.seal) = (key, database, seal)
  }

  /// The name of the database, and the key.
  var place: String { "\(database.name)/\(key)" }

  /// Returns the item's bytes; nil if there is no such item.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let rows = try run([database.sql.readSecret(key, item.number)], item, "read", writes: false)
    guard let found = rows.last?.value(0, 0) else { return nil }
    guard let seal else { return found }
    do { return try seal.open(found, context: context(item)) } catch {
      throw .unavailable(item: item, place: place)
    }
  }

  /// Replaces the item.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard bytes.count <= Self.maximumSize else {
      throw .tooLarge(item: item, place: place, maximum: Self.maximumSize)
    }
    var content = bytes
    if let seal {
      do { content = try seal.seal(bytes, context: context(item)) } catch {
        throw .notWritable(item: item, place: place)
      }
    }
    _ = try run([database.sql.writeSecret(key, item.number, content)], item, "write")
  }

  /// Removes the item.
  public func remove(_ item: SecretItem) throws(SecretStoreError) {
    _ = try run([database.sql.removeSecret(key, item.number, aside: false)], item, "remove")
  }

  /// Moves the item aside, in the place of one that was moved aside before.
  public func setAside(_ item: SecretItem) throws(SecretStoreError) {
    guard try read(item, raw: true) != nil else { return }
    _ = try run(
      [
        database.sql.replaceSecretAside(key, item.number),
        database.sql.setSecretAside(key, item.number),
      ], item, "move aside")
  }

  /// Removes what was moved aside.
  public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    _ = try run([database.sql.removeSecret(key, item.number, aside: true)], item, "remove")
  }

  private func read(_ item: SecretItem, raw: Bool) throws(SecretStoreError) -> [UInt8]? {
    try run([database.sql.readSecret(key, item.number)], item, "read", writes: false)
      .last?.value(0, 0)
  }

  /// What a sealed item is bound to, so that it cannot be moved to another key or item.
  private func context(_ item: SecretItem) -> [UInt8] { Array("\(item.rawValue) \(key)".utf8) }

  private func run(
    _ statements: [Statement], _ item: SecretItem, _ operation: String, writes: Bool = true
  ) throws(SecretStoreError) -> [Rows] {
    do throws(ServerProblem) {
      if let transaction = ThreadTransaction.current,
        let rows = try transaction.run(statements, of: key, in: database, writes: writes)
      {
        return rows
      }
      return try database.withConnection { slot throws(ServerProblem) in
        guard writes else { return try database.begin(statements, on: slot) }
        return try database.begin(
          [LogSQL.begin, LogSQL.patience] + statements + [LogSQL.commit], on: slot)
      } problem: {
        $0
      }
    } catch {
      throw self.error(error, item, operation)
    }
  }

  private func error(_ problem: ServerProblem, _ item: SecretItem, _ operation: String)
    -> SecretStoreError
  {
    switch problem {
    case .refused(code: "53100"): .noSpace(item: item, place: place)
    case .refused(code: "42501") where operation != "read": .notWritable(item: item, place: place)
    default: .unavailable(item: item, place: place)
    }
  }
}

/// Encrypts secrets before they leave the process.
///
/// Use an authenticated cipher, for example AES-GCM with a fresh nonce for each call. The context is not
/// secret: pass it as authenticated data, so that an item is valid in its place only.
public protocol SecretSeal: Sendable {
  /// Encrypts an item.
  func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8]

  /// Decrypts an item; throws if it was changed, or sealed for another place or with another key.
  func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]
}

/// The transaction of a decision, as the thread that decides sees it.
final class ThreadTransaction: Sendable {
  /// The transaction whose decision runs now on this thread.
  @TaskLocal static var current: ThreadTransaction?

  private let slot: ConnectionSlot
  private let database: PostgresDatabase
  private let key: String
  private let state = Mutex((isOpen: true, hasWritten: false))

  init(_ slot: ConnectionSlot, _ database: PostgresDatabase, _ key: String) {
    (self.slot, self.database, self.key) = (slot, database, key)
  }

  /// Runs statements within the transaction; nil if it has ended, or is that of another log.
  func run(
    _ statements: [Statement], of key: String, in database: PostgresDatabase, writes: Bool
  ) throws(ServerProblem) -> [Rows]? {
    guard key == self.key, database === self.database else { return nil }
    return try state.withLock { state throws(ServerProblem) -> [Rows]? in
      guard state.isOpen else { return nil }
      if writes { state.hasWritten = true }
      return try database.goOn(statements, on: slot)
    }
  }

  /// Ends the use by the decision; returns whether it has written secrets.
  func end() -> Bool {
    state.withLock { state in
      state.isOpen = false
      return state.hasWritten
    }
  }
}

extension SecretItem {
  var number: Int16 { Int16(rawValue) }
}
