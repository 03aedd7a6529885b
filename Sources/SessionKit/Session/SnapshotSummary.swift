@_spi(Internals) import SessionCore
package import SessionJournal

/// Sums up a session's journal while it is compacted.
package struct SnapshotSummary: JournalSummary {
  private var payloads = PayloadFold()
  private var time = Timestamp(milliseconds: 0)
  /// A record could not be read or folded: nothing may stand for what follows.
  private var isBroken = false

  /// The summary of a journal without records.
  package init() {}

  package mutating func take(_ frame: JournalFrame, payload: RawSpan) {
    guard !isBroken, RecordKind.isOfSession(frame.kind) else { return }
    do throws(PayloadFold.Failure) {
      time = try payloads.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
    } catch {
      isBroken = true
    }
  }

  /// `nil` where this version does not know all that was taken.
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
