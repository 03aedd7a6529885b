/// The records of other kinds of logs, which a session's journal never holds
/// (`Specs/EventCodec.md`).
///
/// The core knows the numbers of these records, but not their content. So a session refuses to open
/// such a file.
package enum OtherLogRecords {
  /// The kinds that are reserved for other logs; some of them have no record yet.
  package static let kinds: ClosedRange<UInt8> = 0xA0...0xBF

  /// The snapshot versions that are reserved for other logs: snapshots of all logs have the same
  /// kind.
  package static let snapshotVersions: ClosedRange<UInt8> = 0xA0...0xBF

  /// Whether a record of this kind and payload belongs to another log, known or not.
  package static func contains(kind: UInt8, payload: RawSpan) -> Bool {
    if kinds.contains(kind) { return true }
    guard kind == SessionRecord.snapshotKind, payload.byteCount > 8 else { return false }
    return snapshotVersions.contains(payload.withUnsafeBytes { $0[8] })
  }
}
