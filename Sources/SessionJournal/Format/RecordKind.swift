/// The kinds that are reserved for the journal itself.
package enum RecordKind {
  /// Never written: a frame of zeros must not pass for a record.
  package static let invalid: UInt8 = 0

  /// The first record of a compacted file, which takes no sequence number of its own.
  package static let snapshot: UInt8 = 0x7F

  /// An empty record that says up to which sequence the file is known to be durable.
  package static let watermark: UInt8 = 0xFF

  package static func isReserved(_ kind: UInt8) -> Bool {
    kind == invalid || kind == snapshot || kind == watermark
  }
}
