/// A record of the journal of an account list.
package struct AccountRecord: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case event(AccountEvent)
    case snapshot(AccountList)
  }

  package let time: Timestamp
  package let content: Content
}

/// The encoding of an account list's records (`Specs/Accounts.md`).
///
/// Time and version come first, as in a session's payloads.
package enum AccountCodec {
  fileprivate enum Kind: UInt8, CaseIterable {
    case added = 0xB8
    case switched = 0xB9
    case removalBegan = 0xBA
    case ended = 0xBB
    case removed = 0xBC
  }

  private static let version: UInt8 = 1
  private static let snapshotVersion: UInt8 = 0xB8
  /// The kinds of account lists, also future ones, and the versions of their snapshots.
  private static let reserved: ClosedRange<UInt8> = 0xB8...0xBE

  /// Whether a record belongs to an account list, known or not.
  package static func owns(kind: UInt8, payload: RawSpan) -> Bool {
    OtherLogRecords.contains(kind: kind, payload: payload, in: reserved)
  }

  /// The kinds of records with their names.
  package static var names: [(kind: UInt8, name: String)] {
    Kind.allCases.map { ($0.rawValue, "account-\($0)") }
  }

  package static func encode(_ event: AccountEvent, at time: Timestamp)
    -> (kind: UInt8, payload: [UInt8])
  {
    var writer = PayloadWriter()
    writer.write(time)
    writer.write(version)
    let kind: Kind
    switch event {
    case .added(let id):
      kind = .added
      writer.write(id)
    case .switched(let id):
      kind = .switched
      writer.write(id)
    case .removalBegan(let id):
      kind = .removalBegan
      writer.write(id)
    case .ended(let id, let end):
      kind = .ended
      writer.write(id)
      writer.write(optional: end) { $0.write($1) }
    case .removed(let id):
      kind = .removed
      writer.write(id)
    }
    return (kind.rawValue, writer.finished())
  }

  /// Returns the payload of the snapshot of a list.
  package static func encode(_ list: AccountList, at time: Timestamp) -> [UInt8] {
    var writer = PayloadWriter()
    writer.write(time)
    writer.write(snapshotVersion)
    writer.write(list.currentID)
    writer.write(UInt32(clamping: list.accounts.count))
    for account in list.accounts {
      writer.write(account.id)
      writer.write(account.addedAt)
      writer.write(optional: account.lastUsed) { $0.write($1) }
      writer.write(account.stage.rawValue)
    }
    return writer.finished()
  }

  /// Returns the record with this kind and payload; `nil` if its kind or version is not known.
  ///
  /// A reader must not skip such a record, since it may remove an account.
  package static func decode(kind: UInt8, payload: RawSpan) throws(CodecError) -> AccountRecord? {
    var reader = PayloadReader(payload)
    let time = try reader.timestamp()
    let found = try reader.version()
    let content: AccountRecord.Content
    if let kind = Kind(rawValue: kind), found == version {
      content = .event(try reader.accountEvent(kind))
    } else if kind == SessionRecord.snapshotKind, found == snapshotVersion {
      content = .snapshot(try reader.accountList())
    } else {
      return nil
    }
    guard reader.remaining == 0 else {
      throw .trailingBytes(offset: reader.offset, count: reader.remaining)
    }
    return AccountRecord(time: time, content: content)
  }
}

extension PayloadWriter {
  fileprivate mutating func write(_ end: SessionEnd) {
    switch end.reason {
    case .expired(let reason):
      write(false)
      write(reason)
    case .loggedOut(let reason):
      write(true)
      write(reason)
    }
    write(end.time)
  }
}

extension PayloadReader {
  fileprivate mutating func accountEvent(_ kind: AccountCodec.Kind) throws(CodecError)
    -> AccountEvent
  {
    switch kind {
    case .added: return .added(try account())
    case .switched: return .switched(try optionalIdentifier())
    case .removalBegan: return .removalBegan(try account())
    case .ended: return .ended(try account(), end: try flag() ? try sessionEnd() : nil)
    case .removed: return .removed(try account())
    }
  }

  /// An account's identifier names its directory, so it is a UUID.
  private mutating func account() throws(CodecError) -> Identifier {
    let start = offset
    let id = try identifier()
    guard id.uuid != nil else { throw .impossible(offset: start) }
    return id
  }

  private mutating func sessionEnd() throws(CodecError) -> SessionEnd {
    let reason: SessionEnd.Reason =
      try flag() ? .loggedOut(try code()) : .expired(try code())
    return SessionEnd(reason: reason, time: try timestamp())
  }

  fileprivate mutating func accountList() throws(CodecError) -> AccountList {
    let current = try optionalIdentifier()
    let count = try integer(UInt32.self)
    var accounts: [Account] = []
    for _ in 0..<count {
      var account = Account(id: try account(), addedAt: try timestamp())
      if try flag() { account.lastUsed = try timestamp() }
      let stage = try integer(UInt8.self)
      guard let known = Account.Stage(rawValue: stage) else {
        throw .invalid(offset: offset - 1, byte: stage)
      }
      account.stage = known
      accounts.append(account)
    }
    return AccountList(snapshot: accounts, currentID: current)
  }
}
