internal import Foundation
internal import RecordMessages
@_spi(Internals) internal import SessionCore
internal import SwiftProtobuf

/// A record as swift-protobuf writes it: UUIDs in 16 bytes, codes as numbers.
enum MessageRecord {
  static func bytes(_ record: SessionRecord) throws -> [UInt8] {
    var message = Bench_SessionRecord()
    message.sequence = record.sequence
    message.time = record.time.milliseconds
    switch record.event {
    case .login(let login):
      message.login.user = bytes(login.user)
      message.login.method = UInt32(login.method.rawValue)
      message.login.token = self.message(login.token)
      if let context = login.context { message.login.context = self.message(context) }
    case .refreshSucceeded(let refresh):
      message.refreshSucceeded.token = self.message(refresh.token)
      message.refreshSucceeded.trigger = UInt32(refresh.trigger.rawValue)
      message.refreshSucceeded.attempt = refresh.attempt
      message.refreshSucceeded.isRotated = refresh.isRotated
      message.refreshSucceeded.request = refresh.request
    case .contextSwitched(let change):
      message.contextSwitched.context = self.message(change.context)
      if let token = change.token { message.contextSwitched.token = self.message(token) }
      message.contextSwitched.trigger = UInt32(change.trigger.rawValue)
      message.contextSwitched.request = change.request
    case .logout(let logout):
      message.logout.reason = UInt32(logout.reason.rawValue)
    default:
      throw Problem("the workload has no \(record.name)")
    }
    return try message.serializedBytes()
  }

  /// Reads a record; returns its sequence.
  static func read(_ bytes: [UInt8]) throws -> UInt64 {
    try Bench_SessionRecord(serializedBytes: bytes).sequence
  }

  private static func message(_ token: TokenMetadata) -> Bench_TokenFacts {
    var message = Bench_TokenFacts()
    message.generation = token.generation.number
    message.issuedAt = token.issuedAt.milliseconds
    message.expiresAt = token.expiresAt.milliseconds
    if let id = token.id { message.id = bytes(id) }
    message.isRefreshable = token.isRefreshable
    return message
  }

  private static func message(_ context: ActiveContext) -> Bench_ActiveContext {
    var message = Bench_ActiveContext()
    message.role = bytes(context.role.id)
    message.roleName = context.role.name
    message.permissions = context.permissions
    return message
  }

  private static func bytes(_ id: Identifier) -> Data {
    guard let (high, low) = id.uuid else { return Data(id.description.utf8) }
    return withUnsafeBytes(of: high.bigEndian) { Data($0) }
      + withUnsafeBytes(of: low.bigEndian) { Data($0) }
  }
}
