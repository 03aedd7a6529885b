/// What the first line of an export says (Specs/ReplayFiles.md, "Lines").
struct ExportHeader: Equatable, Sendable {
  /// The identifier of the journal, or what stands for it.
  let journal: String
  /// The format of the file that was exported.
  let format: UInt16
  /// The longest payload that the journal may hold, in bytes.
  let maximumRecordSize: UInt32
  /// The sequence of the first record that is no snapshot; 1 where there is none.
  let firstSequence: UInt64
  /// Whether names were replaced.
  let isRedacted: Bool
  /// Whether something before the first record is left out for which no snapshot stands.
  let isPartial: Bool
}

/// How the export, or the journal, came to its end.
enum ExportEnding: String, CaseIterable, Sendable {
  /// The journal ends cleanly.
  case clean = "clean"
  /// What follows was not asked for.
  case until = "until"
  case torn = "torn"
  case undetermined = "undetermined"
  case damaged = "damaged"
  case undecodable = "undecodable"
  case illegal = "illegal"
  case unknownKind = "unknownKind"
}
