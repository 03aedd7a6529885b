/// A place in a journal.
struct JournalPlace: Equatable, Sendable {
  /// The sequence of the record at this place, or of the record that should be there.
  let sequence: UInt64
  /// The distance from the beginning of the file, in bytes.
  let offset: UInt64
}
