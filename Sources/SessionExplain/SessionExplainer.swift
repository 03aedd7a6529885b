@_spi(Internals) import SessionCore

/// Explains in plain English why a session ended, from the records of its journal.
///
/// ```swift
/// import SessionExplain
/// import SessionJournal
///
/// var explainer = SessionExplainer()
/// var reader = try JournalReader(path: path)
/// while let record = try reader.next() {
///   explainer.take(
///     record.payload, kind: record.kind, sequence: record.sequence,
///     remainingInBatch: record.remainingInBatch)
/// }
/// print(explainer.text())
/// ```
/// An explainer keeps a bounded part of a journal of any length. It reads records of a session's journal; a
/// change log has others.
///
/// - Requirement: RPL-3
public struct SessionExplainer: Sendable {
  private var fold = EvidenceFold()
  /// The last end that is complete.
  private var end: Evidence?
  private var last: UInt64 = 0

  /// An explainer that has no records yet.
  public init() {}

  /// Takes the next record of the journal: its payload, kind and sequence, and how many records of its batch
  /// follow.
  ///
  /// Give the records in their order, from the first one that the journal has. A record that cannot be read is
  /// left out, and so is one that cannot follow those before it: nothing is proven or ruled out across it.
  public mutating func take(
    _ payload: [UInt8], kind: UInt8, sequence: UInt64, remainingInBatch: UInt16
  ) {
    var ends: [Evidence] = []
    if let record = Self.record(payload, kind, sequence) {
      do throws(SessionFold.Failure) {
        try fold.take(record, endsBatch: remainingInBatch == 0) { ends.append($0) }
      } catch {
        leaveOut(sequence, &ends)
      }
    } else {
      leaveOut(sequence, &ends)
    }
    last = sequence
    keep(ends)
  }

  /// Why the last session ended, or how the session stands if none has ended; several lines, each with a line
  /// feed at its end.
  ///
  /// Times are in UTC. If the journal's readable part ends because of damage, `damage` is the offset in bytes
  /// where it begins: the text then proves nothing that lost records could contradict.
  public func text(damage: UInt64? = nil) -> String {
    var copy = self
    var ends: [Evidence] = []
    let open = copy.fold.finish(damagedAt: damage) { ends.append($0) }
    copy.keep(ends)
    return WhyText(zone: .utc, isFull: true).text(Explainer.explain(copy.end ?? open))
  }

  private static func record(_ payload: [UInt8], _ kind: UInt8, _ sequence: UInt64)
    -> SessionRecord?
  {
    do throws(CodecError) {
      return try SessionCodec.decode(sequence: sequence, kind: kind, payload: payload)
    } catch {
      return nil
    }
  }

  private mutating func leaveOut(_ sequence: UInt64, _ ends: inout [Evidence]) {
    fold.interrupt(
      EvidenceGap(
        after: last, offset: 0, bytes: 0, sequences: sequence...sequence, isLeftOut: true)
    ) { ends.append($0) }
  }

  private mutating func keep(_ ends: [Evidence]) {
    for evidence in ends {
      if case .end = evidence.subject { end = evidence }
    }
  }
}
