@_spi(Internals) import SessionCore
package import SessionJournal

/// Builds the snapshot of a session's journal while it is compacted.
package struct SnapshotSummary: JournalSummary {
  private var payloads = PayloadFold()
  private var time = Timestamp(milliseconds: 0)
  /// Whether a record could not be read or folded.
  ///
  /// Then no snapshot may replace the records.
  private var isBroken = false

  /// Creates the summary of a journal without records.
  package init() {}

  package mutating func take(_ frame: JournalFrame, payload: RawSpan) {
    guard !isBroken, RecordKind.isOfSession(frame.kind) else { return }
    do throws(PayloadFold.Failure) {
      time = try payloads.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
    } catch {
      isBroken = true
    }
  }

  /// Returns the snapshot; `nil` if this version does not know all records that it took in.
  package func snapshot() -> [UInt8]? {
    guard !isBroken else { return nil }
    do throws(CodecError) {
      guard let content = try payloads.fold().snapshot else { return nil }
      return SessionCodec.encode(content, at: time).payload
    } catch {
      return nil
    }
  }
}
