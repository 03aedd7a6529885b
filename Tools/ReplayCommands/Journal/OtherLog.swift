@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// The state of a log with the format of journals that is no session's journal.
enum OtherLog: Equatable {
  /// What it is; the raw value is its state in JSON.
  enum Kind: String, CaseIterable {
    case changes = "changes"
    case accounts = "accounts"
  }

  /// What waits to be sent (`Specs/ChangeLog.md`).
  case changes(ChangeQueue)
  /// The accounts of an app (`Specs/Accounts.md`).
  case accounts(AccountList)

  /// Creates the empty log that a record belongs to; `nil` for that of a session.
  init?(kind: UInt8, payload: RawSpan) {
    if ChangeCodec.owns(kind: kind, payload: payload) {
      self = .changes(ChangeQueue())
    } else if AccountCodec.owns(kind: kind, payload: payload) {
      self = .accounts(AccountList())
    } else {
      return nil
    }
  }

  /// Applies the next record; returns its time, and the fault if it is not applied.
  ///
  /// A record after a fault is only decoded; `isApplied` is false then.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan, isApplied: Bool = true)
    throws(CodecError) -> (time: Timestamp?, fault: JournalFault?)
  {
    let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
    let unknown = JournalFault.unknownKind(place, frame.kind)
    let time: Timestamp
    do {
      switch self {
      case .changes(var queue):
        let found = try ChangeCodec.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        guard let record = found else { return (nil, unknown) }
        time = record.time
        if isApplied { try queue.apply(record) }
        self = .changes(queue)
      case .accounts(var list):
        guard let record = try AccountCodec.decode(kind: frame.kind, payload: payload) else {
          return (nil, unknown)
        }
        time = record.time
        if isApplied { try list.apply(record) }
        self = .accounts(list)
      }
    } catch let error as CodecError {
      throw error
    } catch {
      return (nil, .outOfPlace(place, "\(error)"))
    }
    return (time, nil)
  }

  var kind: Kind {
    switch self {
    case .changes: .changes
    case .accounts: .accounts
    }
  }

  /// The state in one line.
  var line: String {
    switch self {
    case .changes(let queue): ChangeFormatter.text(queue)
    case .accounts(let list): AccountFormatter.text(list)
    }
  }
}

extension OtherLog.Kind {
  var text: String {
    switch self {
    case .changes: "a change log"
    case .accounts: "a list of accounts"
    }
  }
}
