@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

extension StateDescription.Value {
  /// Returns the value as one line for people.
  func text(_ zone: TimeZoneChoice) -> String {
    switch self {
    case .none: "none"
    case .text(let text): text.isEmpty ? "(empty)" : text.printable
    case .number(let number): number.grouped
    case .count(let count): count.grouped
    case .token(let generation): generation == .none ? "none" : "\(generation)"
    case .flag(let flag): flag ? "yes" : "no"
    case .time(let time): zone.text(time)
    case .texts(let texts): texts.isEmpty ? "none" : texts.map(\.printable).joined(separator: ", ")
    case .tokens(let tokens):
      tokens.isEmpty ? "none" : tokens.map(\.description).joined(separator: ", ")
    }
  }
}

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
