internal import CPeers
internal import Foundation

/// Records in LevelDB, by number; each put is synced.
final class LevelStore {
  private let database: OpaquePointer
  private var sequence: UInt64 = 0

  /// Opens a new database; `nil` if LevelDB is not installed.
  init?(_ folder: String) throws {
    var isMissing: Int32 = 0
    var problem: UnsafeMutablePointer<CChar>?
    guard let database = peers_leveldb_open(folder, &isMissing, &problem) else {
      guard isMissing == 0 else { return nil }
      throw Problem("LevelDB: \(Self.text(problem))")
    }
    self.database = database
  }

  deinit {
    peers_leveldb_close(database)
  }

  func put(_ value: [UInt8]) throws {
    sequence += 1
    var problem: UnsafeMutablePointer<CChar>?
    let result = withUnsafeBytes(of: sequence.bigEndian) { key in
      value.withUnsafeBytes { value in
        peers_leveldb_put(
          database, key.baseAddress, key.count, value.baseAddress, value.count, &problem)
      }
    }
    guard result == 0 else { throw Problem("LevelDB: \(Self.text(problem))") }
  }

  private static func text(_ problem: UnsafeMutablePointer<CChar>?) -> String {
    guard let problem else { return "no reason given" }
    defer { free(problem) }
    return String(cString: problem)
  }
}
