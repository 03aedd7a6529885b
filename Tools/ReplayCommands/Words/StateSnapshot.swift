@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The fold of a journal's records up to one of them.
struct StateSnapshot: Equatable, Sendable {
  private(set) var fold = SessionFold()
  /// The time of its last record.
  private(set) var time: Timestamp?

  init(_ fold: SessionFold = SessionFold(), at time: Timestamp? = nil) {
    self.fold = fold
    self.time = time
  }

  mutating func apply(_ record: SessionRecord) throws(SessionFold.Failure) {
    try fold.apply(record)
    time = record.time
  }

  /// Returns one JSON object, with every field in every state.
  func json(journal: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("journal", journal)
      json.field("sequence", fold.sequence)
      json.field("eventSequence", fold.eventSequence)
      json.field("time", time)
      for field in StateDescription(fold).fields { json.field(field) }
    }
    return json.text + "\n"
  }
}
