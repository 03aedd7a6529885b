@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// The rule by which a command shows names: as they are, or as pseudonyms under a key.
struct Redactor: Equatable, Sendable {
  /// Names are shown as they are.
  static let none = Redactor(isRedacting: false, needsKey: false, chosen: nil)

  /// Whether all names of records are replaced.
  let isRedacting: Bool
  /// Whether the output has pseudonyms at all.
  let needsKey: Bool
  /// The pseudonyms of all journals; `nil` if each journal has its own.
  private var chosen: Pseudonyms?
  /// Whether the records have pseudonyms already, so that none is replaced by another.
  private var isDone = false

  init(isRedacting: Bool, needsKey: Bool, chosen: Pseudonyms?) {
    self.isRedacting = isRedacting
    self.needsKey = needsKey
    self.chosen = chosen
  }

  /// Whether each journal has pseudonyms of its own.
  var isPerJournal: Bool { chosen == nil }

  /// Returns the pseudonyms of the journal with this header, also if names are shown.
  func pseudonyms(for header: JournalHeader) -> Pseudonyms { chosen ?? Pseudonyms(header) }

  /// Returns the redaction of the journal with this header; `nil` if its records stay as they are.
  func redaction(for header: JournalHeader) -> Redaction? {
    isRedacting && !isDone ? Redaction(pseudonyms: pseudonyms(for: header)) : nil
  }

  /// The rule for records that have pseudonyms already: these stay as they are.
  var keepingPseudonyms: Redactor {
    var kept = self
    kept.isDone = true
    return kept
  }

  /// Returns the identifier of the journal with this header as it is shown.
  func journal(_ header: JournalHeader) -> String {
    let id = header.identifier.description
    return redaction(for: header)?.journal(id).description ?? id
  }

  /// Returns a rule by which all journals have the pseudonyms of the journal with this header.
  ///
  /// If a key was chosen, that key stays.
  func shared(with header: JournalHeader) -> Redactor {
    var shared = self
    shared.chosen = pseudonyms(for: header)
    return shared
  }
}

extension Pseudonyms {
  /// Creates the pseudonyms of the journal with this header.
  init(_ header: JournalHeader) {
    self.init(journal: (header.identifier.high, header.identifier.low), salt: header.salt)
  }
}

/// A decoder of the records of one journal, which shows names as a redactor says.
struct RecordDecoder {
  private var decoder = SessionDecoder()
  /// The redaction of each record; `nil` if names are shown.
  let redaction: Redaction?

  init(_ redaction: Redaction?) {
    self.redaction = redaction
  }

  /// Decodes the record, and replaces its names if they are not to be shown.
  mutating func decode(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError)
    -> SessionRecord
  {
    guard let redaction else {
      return try decoder.decode(sequence: sequence, kind: kind, payload: payload)
    }
    return redaction.record(
      try decoder.decode(sequence: sequence, kind: kind, payload: payload))
  }
}
