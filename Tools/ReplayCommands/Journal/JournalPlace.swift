/// A place in a journal.
struct JournalPlace: Equatable, Sendable {
  /// The sequence of the record that stands there, or should.
  let sequence: UInt64
  /// In bytes from the beginning of the file.
  let offset: UInt64
}
