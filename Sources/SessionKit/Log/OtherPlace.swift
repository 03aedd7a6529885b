@_spi(Internals) import SessionCore
import SessionJournal

/// The place of a log that is no file, for the engine.
struct OtherPlace<Place: SessionLogPlace>: LogPlace {
  let place: Place

  /// Other hosts may open the log too, and nothing is known of their processes.
  var presence = OpeningPresence.withoutLock

  init(_ place: Place) { self.place = place }

  var deadline = JournalOptions().lockDeadline

  var name: String { place.name }
  var mayTakeSecretsBack: Bool { true }

  func findLog() -> LogPresence { place.presence() }

  func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> OpenedLog {
    OpenedLog(try place.open(replay: replay))
  }

  func beginPresence(boot: Identifier?) -> OpeningPresence {
    presence(name, JournalOptions(), boot)
  }

  /// Nothing is known of logs elsewhere, so their items stay as they are.
  func owner(of identifier: String, named name: String) -> SecretsOwner {
    .unknown(
      name, .unavailable(path: name, problem: "a session of \(self.name) cannot look for it"))
  }

  func history() throws(SessionError) -> SessionHistory {
    var parts = HistoryParts()
    let (identifier, first): (JournalIdentifier, UInt64)
    do throws(JournalError) {
      (identifier, first) = try replay { header, payload in parts.take(header, payload) }
    } catch {
      throw .journal(error)
    }
    return try SessionHistory(of: identifier, firstSequence: first, parts: parts, path: name)
  }

  func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    _ = try replay { header, payload in
      guard header.sequence > sequence, records.count < limit else { return }
      records.append(
        JournalRecord(
          sequence: header.sequence, offset: 0, kind: header.kind,
          remainingInBatch: header.remainingInBatch,
          payload: payload.withUnsafeBytes { Array($0) }))
    }
    return records
  }

  /// Reads every record of a log that exists, and closes it again.
  private func replay(_ take: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> (
    JournalIdentifier, UInt64
  ) {
    switch place.presence() {
    case .present: break
    case .absent: throw .missing(path: name)
    case .unknown(let problem): throw problem
    }
    let log = try place.open(replay: take)
    let found = (log.identifier, log.firstSequence)
    try log.close()
    return found
  }
}
