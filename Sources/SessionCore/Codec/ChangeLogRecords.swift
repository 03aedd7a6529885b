/// Which records are a change log's, and never a session's (`Specs/ChangeLog.md`).
///
/// A change log is a journal of its own. The core knows the numbers of its records, and nothing of what
/// they say: so a session that is opened with such a file refuses it.
package enum ChangeLogRecords {
  /// The kinds that belong to change logs; some of them have no record yet.
  package static let kinds: ClosedRange<UInt8> = 0xA0...0xBF

  /// The versions of snapshots that belong to change logs; the kind of a snapshot is the same in both.
  package static let snapshotVersions: ClosedRange<UInt8> = 0xA0...0xBF

  /// Whether a record of this kind and payload is a change log's, known or not.
  package static func contains(kind: UInt8, payload: RawSpan) -> Bool {
    if kinds.contains(kind) { return true }
    guard kind == SessionRecord.snapshotKind, payload.byteCount > 8 else { return false }
    return snapshotVersions.contains(payload.withUnsafeBytes { $0[8] })
  }
}
