@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit

/// The runner's knowledge of the app's change log, read only from its file.
struct ScenarioChangeBook {
  var bytes: [UInt8] = []
  /// All records so far, including those that were compacted since.
  var records: [ChangeRecord] = []
  /// The queue that results from the records in the file.
  var queue = ChangeQueue()
  /// The index of the record from which the next expected one is searched.
  var named = 0
}

/// The change log, and killing processes.
extension ScenarioRun {
  /// Reads the change log's new records; returns a line for each.
  mutating func lookAtChanges() throws -> [String] {
    guard scenario.setting.changes != nil else { return [] }
    do {
      guard let bytes = try stage.bytes(stage.changes), bytes != changes.bytes else { return [] }
      changes.bytes = bytes
      let last = changes.records.last?.sequence ?? 0
      var (queue, news): (ChangeQueue, [ChangeRecord]) = (ChangeQueue(), [])
      var reader = try JournalReader(bytes: bytes)
      while let raw = try reader.next() {
        let record = try ChangeCodec.decode(
          sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
        // The journal's own records contain no changes.
        guard let record else { continue }
        try queue.apply(record)
        if record.sequence > last { news.append(record) }
      }
      changes.queue = queue
      changes.records += news
      return news.map { "\($0.name) in the change log" }
    } catch { throw fail("the change log cannot be read: \(error)") }
  }

  /// Checks that one of the next records is of this kind.
  mutating func change(_ kind: String, _ fields: [ScenarioLine.Field]) throws {
    let words = changes.records.map(ScenarioWords.of)
    guard let index = words[changes.named...].firstIndex(where: { $0?.kind == kind }),
      let found = words[index]
    else { throw fail("there is no further record \(kind) in the change log") }
    try compare(fields, with: found.words, of: kind)
    changes.named = index + 1
  }

  /// Checks `nothing`, a count, or keys in order.
  func compare(_ found: [Change], with line: ScenarioLine, _ what: String) throws {
    let names = line.words.dropFirst().filter { $0 != "nothing" }
    if let first = names.first, let count = Int(first) {
      guard found.count == count else { throw fail("\(found.count) changes \(what)") }
      return
    }
    guard found.map(\.key.description) == names.map(tokens.fill) else {
      let list = found.map { change in
        names.first { tokens.fill($0) == change.key.description } ?? "\(change)"
      }
      throw fail("these changes \(what): \(list.joined(separator: ", "))")
    }
  }

  /// Checks that the queue of an app, if no other has the log open, equals the queue in the file.
  func expectSameQueue() throws {
    let logs = processes.compactMap { calls.log($0) }
    guard logs.count == 1, let log = logs.first, log.queue != changes.queue else { return }
    throw fail("the app has \(log.queue.pending.count) pending changes, and the file has others")
  }

  // MARK: Killing processes

  /// Kills a process without closing anything.
  mutating func kill(_ process: String) throws {
    try expectAllNamed("\(process) is killed")
    guard calls.session(process) != nil else { throw fail("\(process) is not open") }
    end(process)
    try settle()
  }

  private mutating func end(_ process: String) {
    stage.kill(process)
    calls.bury(process)
    // Commands in progress in it get no result.
    for index in asked.indices where asked[index].process == process { asked[index].isNamed = true }
  }

  /// Kills all processes and drops data that was not synced; checks that no event or change is
  /// lost.
  mutating func cutPower() throws {
    try expectAllNamed("the power fails")
    for process in stage.lives.names { end(process) }
    stage.cut()
    let (events, queue) = (events, changes.queue)
    try lookAnew()
    guard self.events == events else { throw fail("an event that had occurred is lost") }
    guard changes.queue.pending == queue.pending else { throw fail("a change is lost") }
  }
}
