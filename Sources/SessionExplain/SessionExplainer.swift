@_spi(Internals) import SessionCore

/// An explainer of why a session ended, in plain English, from the records of its journal.
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
/// An explainer keeps a bounded part of a journal of any length. It reads the records of a
/// session's journal, and not those of a change log.
///
/// - Requirement: RPL-3
public struct SessionExplainer: Sendable {
  private var fold = EvidenceFold()
  /// The last end whose evidence is complete.
  private var end: Evidence?
  private var last: UInt64 = 0

  /// Creates an explainer without records.
  public init() {}

  /// Takes the next record of the journal: its payload, kind, sequence and the number of records
  /// that follow in its batch.
  ///
  /// Give the records in order, from the first one in the journal. A record is left out if it
  /// cannot be read, or if it is illegal after the records before it. Then no finding relies on
  /// both sides of it.
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

  /// Returns why the last session ended, or its current state if none has ended.
  ///
  /// The text has several lines, each with a line feed at its end. Times are in UTC. If damage ends
  /// the readable part of the journal, pass its offset in bytes as `damage`. The text then claims
  /// nothing that lost records could contradict.
  public func text(damage: UInt64? = nil) -> String { explanation(damage: damage).text }

  /// Returns the explanation of why the last session ended, or of its current state if none has
  /// ended.
  ///
  /// If damage ends the readable part of the journal, pass its offset in bytes as `damage`. The
  /// explanation then claims nothing that lost records could contradict. It has no pseudonym of the
  /// user, since the records do not have the journal's identity.
  public func explanation(damage: UInt64? = nil) -> Explanation {
    var copy = self
    var ends: [Evidence] = []
    let open = copy.fold.finish(damagedAt: damage) { ends.append($0) }
    copy.keep(ends)
    return Explainer.explain(copy.end ?? open)
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
