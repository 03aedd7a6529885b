/// Which records belong to journals of another kind, and never to a session's (`Specs/EventCodec.md`).
///
/// The core knows the numbers of these records, and nothing of what they say. So a session refuses to open
/// such a file.
package enum OtherLogRecords {
  /// The kinds that are set aside for other logs; some of them have no record yet.
  package static let kinds: ClosedRange<UInt8> = 0xA0...0xBF

  /// The versions of snapshots that are set aside for other logs: the kind of a snapshot is the same in all.
  package static let snapshotVersions: ClosedRange<UInt8> = 0xA0...0xBF

  /// Whether a record of this kind and payload is another log's, known or not.
  package static func contains(kind: UInt8, payload: RawSpan) -> Bool {
    if kinds.contains(kind) { return true }
    guard kind == SessionRecord.snapshotKind, payload.byteCount > 8 else { return false }
    return snapshotVersions.contains(payload.withUnsafeBytes { $0[8] })
  }
}
