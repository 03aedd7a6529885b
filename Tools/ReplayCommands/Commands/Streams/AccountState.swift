@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// The state of a list of accounts up to one of its records.
struct AccountState {
  private(set) var list = AccountList()
  private(set) var sequence: UInt64 = 0
  private(set) var time: Timestamp?
  private(set) var fault: JournalFault?
  private var journal = ""

  /// Folds the file through `target`, or to its end; `nil` if it is no list of accounts.
  init?(of file: JournalFile, through target: UInt64?) throws(ToolError) {
    guard var log = try file.otherLog(), log.kind == .accounts else { return nil }
    var (last, time, problem) = (UInt64(0), Timestamp?.none, JournalFault?.none)
    let pass = try file.visitPayloads { (frame, payload) throws(CodecError) in
      if let target, frame.sequence > target { return false }
      let taken = try log.take(frame, payload)
      problem = taken.fault
      guard problem == nil else { return false }
      (last, time) = (frame.sequence, taken.time)
      return true
    }
    guard case .accounts(let list) = log else { return nil }
    (self.list, sequence, self.time) = (list, last, time)
    fault = problem ?? pass.fault
    journal = pass.header.identifier.description
  }

  /// Returns one line for the list, and one for each account.
  func text(zone: TimeZoneChoice, style: Style) -> String {
    var lines = [("state", AccountFormatter.text(list))]
    if let time { lines.append(("as of", "seq \(sequence), \(zone.text(time))")) }
    for account in list.accounts {
      let used = account.lastUsed.map { ", last used \(zone.text($0))" } ?? ""
      let name = account == list.current ? "current" : "\(account.stage)"
      lines.append((name, "\(account.id), added \(zone.text(account.addedAt))\(used)"))
    }
    return lines.map { "\(style.dim($0.0.padded(to: 8)))  \($0.1)\n" }.joined()
  }

  /// The state as one JSON object.
  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("journal", journal)
      json.field("sequence", sequence)
      json.field("time", time)
      json.field("state", OtherLog.Kind.accounts.rawValue)
      json.accounts(of: list)
    }
    return json.text + "\n"
  }
}
