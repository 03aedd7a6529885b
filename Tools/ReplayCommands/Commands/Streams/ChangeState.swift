@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// The state of a change log up to one of its records, which `state` shows for such a file.
struct ChangeState {
  private(set) var queue = ChangeQueue()
  private(set) var sequence: UInt64 = 0
  private(set) var time: Timestamp?
  private(set) var fault: JournalFault?
  private(set) var journal = ""
  /// The last sequence that a compaction replaced by a snapshot.
  private(set) var compacted: UInt64 = 0
  /// Whether the state includes all records.
  private(set) var isAtEnd = true

  /// Folds the change log `file` through `target`, or to its end; `nil` if the file is no change
  /// log.
  init?(of file: JournalFile, through target: UInt64?) throws(ToolError) {
    guard var log = try file.otherLog(), log.kind == .changes else { return nil }
    var (last, time, problem) = (UInt64(0), Timestamp?.none, JournalFault?.none)
    var (compacted, isAtEnd) = (UInt64(0), true)
    let pass = try file.visitPayloads { (frame, payload) throws(CodecError) in
      if last == 0, frame.isSnapshot { compacted = frame.sequence }
      if let target, frame.sequence > target {
        isAtEnd = false
        return false
      }
      let taken = try log.take(frame, payload)
      problem = taken.fault
      guard problem == nil else { return false }
      (last, time) = (frame.sequence, taken.time)
      return true
    }
    guard case .changes(let queue) = log else { return nil }
    (self.queue, sequence, self.time) = (queue, last, time)
    (self.compacted, self.isAtEnd) = (compacted, isAtEnd)
    fault = problem ?? pass.fault
    journal = pass.header.identifier.description
  }

  /// Returns one line for the whole queue, and one for each change that waits or was given up.
  func text(zone: TimeZoneChoice, style: Style) -> String {
    var lines = [("state", ChangeFormatter.text(queue))]
    if let time { lines.append(("as of", "seq \(sequence), \(zone.text(time))")) }
    for item in queue.pending {
      let sends = item.sends == 0 ? "" : ", sent \(count(UInt64(item.sends), "time"))"
      lines.append(("waits", "\(item.change), by \(item.user)\(sends), key \(item.change.key)"))
    }
    for failure in queue.failures {
      lines.append(
        ("given up", "\(failure.change), by \(failure.user), \(failure.cause): \(failure.reason)"))
    }
    for (scope, changedAt) in queue.scopes.sorted(by: { $0.key < $1.key }) {
      lines.append(
        ("scope", "\(scope.isEmpty ? "without a name" : scope), \(zone.text(changedAt))"))
    }
    return lines.map { "\(style.dim($0.0.padded(to: 8)))  \($0.1.printable)\n" }.joined()
  }

  /// The state as one JSON object.
  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("journal", journal)
      json.field("sequence", sequence)
      json.field("time", time)
      json.field("state", OtherLog.Kind.changes.rawValue)
      json.object("changes") { $0.facts(queue) }
    }
    return json.text + "\n"
  }
}
