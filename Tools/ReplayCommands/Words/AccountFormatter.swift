@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Formats a record of a list of accounts (`Specs/Accounts.md`).
enum AccountFormatter {
  static func text(_ record: AccountRecord) -> String {
    switch record.content {
    case .event(.added(let id)), .event(.removed(let id)): "\(id)"
    case .event(.switched(let id)): id.map { "to \($0)" } ?? "to none"
    case .event(.removalBegan(let id)): "\(id), by the user"
    case .event(.ended(let id, let end)):
      "\(id), " + (end.map { "\($0.reason), \($0.time)" } ?? "no user was logged in")
    case .snapshot(let list): text(list)
    }
  }

  static func text(_ list: AccountList) -> String {
    "\(count(list.all.count, "account")), \(list.leaving.count) being removed"
  }
}

extension SessionRecord {
  /// The record as one of a list of accounts, with its name; `nil` if it is none.
  var account: (name: String, record: AccountRecord)? {
    guard case .unknown(let unknown) = content else { return nil }
    let (kind, payload) = SessionCodec.encode(content, at: time)
    guard AccountCodec.owns(kind: kind, payload: payload.span.bytes) else { return nil }
    do throws(CodecError) {
      guard let record = try AccountCodec.decode(kind: kind, payload: payload.span.bytes) else {
        return nil
      }
      return (AccountCodec.names.first { $0.kind == unknown.kind }?.name ?? "snapshot", record)
    } catch {
      // It is shown as what it is for a session: a record of an unknown kind.
      return nil
    }
  }
}

extension JSONWriter {
  /// Writes name, time and facts of a record of a list of accounts.
  mutating func readable(_ record: AccountRecord, named name: String) {
    field("name", name)
    field("time", record.time)
    object("facts") { json in
      switch record.content {
      case .event(.added(let id)), .event(.removalBegan(let id)), .event(.removed(let id)):
        json.field("account", id)
      case .event(.switched(let id)):
        json.field("account", id)
      case .event(.ended(let id, let end)):
        json.field("account", id)
        json.field("reason", (end?.reason).map { "\($0)" })
        json.field("endedAt", end?.time)
      case .snapshot(let list):
        json.accounts(of: list)
      }
    }
  }

  mutating func accounts(of list: AccountList) {
    field("current", list.current?.id)
    array("accounts", list.accounts) { json, account in
      json.object { json in
        json.field("id", account.id)
        json.field("stage", "\(account.stage)")
        json.field("addedAt", account.addedAt)
        json.field("lastUsed", account.lastUsed)
      }
    }
  }
}
