@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit

/// What a runner has seen of the app's change log, by the file alone.
struct ScenarioChangeBook {
  var bytes: [UInt8] = []
  /// Every record that there was, also those that were compacted since.
  var records: [ChangeRecord] = []
  /// What they come to.
  var queue = ChangeQueue()
  /// Where the next record is looked for.
  var named = 0
}

/// The change log, and the death of processes.
extension ScenarioRun {
  /// Takes note of the change log's new records; each in a line.
  mutating func lookAtChanges() throws(ScenarioFailure) -> [String] {
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
        // The journal's own records say nothing of changes.
        guard let record else { continue }
        try queue.apply(record)
        if record.sequence > last { news.append(record) }
      }
      changes.queue = queue
      changes.records += news
      return news.map { "\($0.name) in the change log" }
    } catch {
      throw fail("the change log cannot be read: \(error)")
    }
  }

  /// A later record must be of this kind.
  mutating func change(
    _ kind: String, _ fields: [ScenarioStep.Field]
  ) throws(ScenarioFailure) {
    let words = changes.records.map(ScenarioWords.of)
    guard let index = words[changes.named...].firstIndex(where: { $0?.kind == kind }),
      let found = words[index]
    else { throw fail("there is no further record \(kind) in the change log") }
    try compare(fields, with: found.words, of: kind)
    changes.named = index + 1
  }

  func compare(
    _ found: [Change], with expected: ScenarioChanges, _ what: String
  ) throws(ScenarioFailure) {
    switch expected {
    case .count(let count):
      guard found.count == count else { throw fail("\(found.count) changes \(what)") }
    case .keys(let names):
      let keys = names.map { tokens.fill("<\($0)>") }
      guard found.map(\.key.description) == keys else {
        let list = found.map { change in
          names.first { tokens.fill("<\($0)>") == change.key.description } ?? "\(change)"
        }
        throw fail("these changes \(what): \(list.joined(separator: ", "))")
      }
    }
  }

  /// An app that has the log open to itself knows of what the file says.
  func expectSameQueue() throws(ScenarioFailure) {
    let logs = Set(scenario.steps.map(\.process)).compactMap { calls.log($0) }
    guard logs.count == 1, let log = logs.first, log.queue != changes.queue else { return }
    throw fail("the app knows of \(log.queue.pending.count) changes that wait, the file says other")
  }

  // MARK: Death

  /// A process dies without any close.
  mutating func kill(_ process: String) throws(ScenarioFailure) {
    try expectAllNamed("\(process) is killed")
    guard calls.session(process) != nil else { throw fail("\(process) is not open") }
    end(process)
    try settle()
  }

  private mutating func end(_ process: String) {
    stage.kill(process)
    calls.bury(process)
    // What was under way in it has no end any more.
    for index in asked.indices where asked[index].process == process { asked[index].isNamed = true }
  }

  /// All processes die, and only what was synced is there afterwards: events and changes are.
  mutating func cutPower() throws(ScenarioFailure) {
    try expectAllNamed("the power fails")
    for process in stage.lives.names { end(process) }
    stage.cut()
    let (events, queue) = (events, changes.queue)
    try lookAnew()
    guard self.events == events else { throw fail("an event that was told is lost") }
    guard changes.queue.pending == queue.pending else { throw fail("a change is lost") }
  }
}
