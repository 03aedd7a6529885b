@_spi(Internals) public import SessionCore

extension Generator where Value == Identifier {
  /// Identifiers as servers choose them.
  ///
  /// There are short names, UUIDs, texts that are nearly UUIDs, empty ones, and spellings that look
  /// alike.
  ///
  /// - Requirement: TST-1
  public static var identifier: Generator { Generator { $0.identifier() } }
}

extension Generator where Value == String {
  /// Display names: plain, empty, 400 characters long, in any script, with control characters.
  public static var name: Generator { Generator { $0.text() } }
}

extension Generator where Value == Timestamp {
  /// Times near the plain start, in this century, before 1970, and at the bounds of `Int64`.
  public static var timestamp: Generator { Generator { $0.timestamp() } }
}

extension Generator where Value == ActiveContext {
  /// Contexts with 0 to 300 permissions, with and without school and unit.
  public static var context: Generator { Generator { $0.context() } }
}

extension Generator where Value == TokenMetadata {
  /// Metadata of tokens; some expire before they are issued.
  public static var token: Generator { Generator { $0.token() } }
}

extension Generator where Value == RequestFailure {
  /// Failures of requests, of known and unknown kinds.
  public static var failure: Generator { Generator { $0.failure() } }
}

extension Generator where Value == SessionEvent {
  /// Events of any of the six kinds, legal or not.
  ///
  /// - Requirement: TST-1
  public static var event: Generator { Generator { $0.event() } }

  /// Returns a generator of events of this kind with any payload.
  public static func event(_ kind: SessionEvent.Kind) -> Generator { Generator { $0.event(kind) } }
}

extension Generator where Value == SessionNote {
  /// Notes of any kind.
  package static var note: Generator { Generator { $0.note() } }

  /// Returns a generator of notes of this kind with any payload.
  package static func note(_ kind: SessionNote.Kind) -> Generator { Generator { $0.note(kind) } }
}

extension Generator where Value == SessionRecord.Content {
  /// Contents of records: an event, a note, or an entry of a newer version.
  ///
  /// - Requirement: JRN-3
  package static var content: Generator { Generator { $0.content() } }
}

extension Generator where Value == SessionRecord {
  /// Records with any sequence and time.
  package static var record: Generator {
    Generator {
      SessionRecord(sequence: $0.number(), time: $0.timestamp(), content: $0.content())
    }
  }
}
