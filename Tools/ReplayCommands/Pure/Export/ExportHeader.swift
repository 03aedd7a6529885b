/// The first line of an export (Specs/ReplayFiles.md, "Lines").
struct ExportHeader: Equatable, Sendable {
  /// The identifier of the journal, or its pseudonym.
  let journal: String
  /// The format version of the exported file.
  let format: UInt16
  /// The maximum size of a payload in the journal, in bytes.
  let maximumRecordSize: UInt32
  /// The sequence of the first record that is not a snapshot; 1 if there is no snapshot.
  let firstSequence: UInt64
  /// Whether names were replaced by pseudonyms.
  let isRedacted: Bool
  /// Whether records before the first one are left out and no snapshot replaces them.
  let isPartial: Bool
}

/// How the export or the journal ends.
enum ExportEnding: String, CaseIterable, Sendable {
  /// The journal ends cleanly.
  case clean = "clean"
  /// The export ends before the journal does, as requested.
  case until = "until"
  case torn = "torn"
  case undetermined = "undetermined"
  case damaged = "damaged"
  case undecodable = "undecodable"
  case illegal = "illegal"
  case unknownKind = "unknownKind"
}
