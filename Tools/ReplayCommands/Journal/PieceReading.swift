@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// The state of a pass that folds what can be read of a file, and reads on after lost records.
///
/// Every command that counts or explains reads a damaged file in this way, so their answers agree.
///
/// - Requirement: RPL-6, RPL-11
struct PieceReading {
  /// The fault of a record that ended the pass.
  private(set) var stop: JournalFault?
  /// The fault of the first event that the state before it does not allow; such events are left out.
  private var impossible: JournalFault?
  private var last: UInt64 = 0

  /// Takes the next piece; returns whether the pass goes on.
  ///
  /// `fold` takes a record, and throws if it cannot be folded. `interrupt` takes a gap.
  mutating func take(
    _ piece: JournalPiece, fold: (JournalEntry) throws(SessionFold.Failure) -> Void,
    interrupt: (EvidenceGap) -> Void
  ) -> Bool {
    guard case .record(let entry, _) = piece else {
      if let gap = piece.gap(after: last) { interrupt(gap) }
      return true
    }
    do throws(SessionFold.Failure) {
      try fold(entry)
    } catch {
      guard leaveOut(entry.place, error, interrupt) else { return false }
    }
    last = entry.record.sequence
    return true
  }

  /// Takes the payload of a record at this place, like the record; throws if it cannot be decoded.
  mutating func take(
    payloadAt place: JournalPlace, fold: () throws(PayloadFold.Failure) -> Void,
    interrupt: (EvidenceGap) -> Void
  ) throws(CodecError) -> Bool {
    do throws(PayloadFold.Failure) {
      try fold()
    } catch {
      switch error {
      case .unreadable(let error, _): throw error
      case .refused(let failure):
        guard leaveOut(place, failure, interrupt) else { return false }
      }
    }
    last = place.sequence
    return true
  }

  /// Leaves out a record that cannot be folded; returns `false` if the pass must end at it.
  private mutating func leaveOut(
    _ place: JournalPlace, _ failure: SessionFold.Failure, _ interrupt: (EvidenceGap) -> Void
  ) -> Bool {
    let fault = JournalFault(failure, at: place)
    guard case .illegal = failure else {
      stop = fault
      return false
    }
    impossible = impossible ?? fault
    interrupt(EvidenceGap(of: place.sequence, at: place.offset, after: last))
    return true
  }

  /// Returns the offset of records that may be there and were not read; `nil` if there are none.
  func damage(after pass: JournalFile.Pass) -> UInt64? {
    // Damage that was read over is a gap.
    let unread = stop ?? (pass.fault?.isReadOver == true ? nil : pass.fault)
    return unread.flatMap { $0.mayHideRecords ? $0.place.offset : nil }
  }

  /// Returns what is wrong with the file: `rest` is what its answer is from if all of it was read.
  func finding(
    after pass: JournalFile.Pass, _ file: JournalFile, rest: String, before: String
  ) -> FilesOutcome.Finding {
    let fault = [stop, impossible, pass.fault].compactMap { $0 }
      .min { $0.place.offset < $1.place.offset }
    return FilesOutcome.Finding(
      header: pass.header,
      error: fault?.error(file.name, consequence: stop == nil ? rest : before))
  }
}

extension WhySearch {
  /// Takes the next piece of a file; returns whether the search needs another one.
  mutating func take(_ piece: JournalPiece) -> Bool {
    if case .record(let entry, _) = piece { return take(entry) { _ in } }
    if let gap = piece.gap(after: last) { interrupt(gap) { _ in } }
    return true
  }

  /// Returns the offset of records that may be there and were not read; `nil` if there are none.
  func damage(after pass: JournalFile.Pass) -> UInt64? {
    // What is wrong after the records of the answer does not concern it.
    let read = pass.fault.flatMap { $0.place.offset < knownAt ?? .max ? $0 : nil }
    // The search reads on after damage; it reads nothing after any other fault.
    let unread = fault.map(JournalFault.init) ?? (read?.isReadOver == true ? nil : read)
    return unread.flatMap { $0.mayHideRecords ? $0.place.offset : nil }
  }
}

extension JournalFault {
  init(_ fault: WhySearch.Fault) {
    self.init(
      fault.failure, at: JournalPlace(sequence: fault.sequence, offset: fault.offset))
  }
}

/// The export that a temporary journal was made of.
///
/// The temporary file has no name. It exists as long as this value.
final class ConvertedFile: Sendable {
  /// The path as the user gave it.
  let path: String
  /// Whether its names are pseudonyms already.
  let isRedacted: Bool
  /// Why the journal has less than the file should have; `nil` if it has everything.
  let fault: JournalFault?
  /// The app and the platform of an opening that the file leaves out; `nil` if it is not known.
  let opening: SessionDevice?
  /// The explanation that the app made of its whole journal; `nil` if the file is no support report.
  let explanation: ReportedExplanation?
  private let copy: TemporaryFile

  init(
    path: String, copy: consuming TemporaryFile, isRedacted: Bool, fault: JournalFault?,
    opening: SessionDevice? = nil, explanation: ReportedExplanation? = nil
  ) {
    (self.path, self.isRedacted, self.fault) = (path, isRedacted, fault)
    (self.opening, self.explanation) = (opening, explanation)
    self.copy = copy
  }

  /// The path at which this process can open the temporary file.
  var openPath: String { "/dev/fd/\(copy.descriptor)" }
}

extension JournalPiece {
  /// Returns the gap that it is, after the record `last`; `nil` for a record.
  func gap(after last: UInt64) -> EvidenceGap? {
    switch self {
    case .record: nil
    case .unreadable(let place, let bytes):
      EvidenceGap(of: place.sequence, at: place.offset, bytes: bytes, after: last)
    case .lost(let range): EvidenceGap(range, after: last)
    }
  }
}

extension EvidenceGap {
  init(_ range: LostRange, after last: UInt64) {
    self.init(
      after: last, offset: range.offsets.lowerBound,
      bytes: range.offsets.upperBound - range.offsets.lowerBound, sequences: range.sequences)
  }

  /// `96 bytes lost (seq 10)`, as `timeline` prints it.
  var words: String {
    if isLeftOut, let sequences {
      return "the event @\(sequences.lowerBound) is not possible here, and is left out"
    }
    if bytes == 0, let sequences {
      return sequences.count == 1
        ? "record @\(sequences.lowerBound) is missing"
        : "records @\(sequences.lowerBound) to @\(sequences.upperBound) are missing"
    }
    let text = count(bytes, "byte") + " lost"
    guard let sequences else { return text }
    return text
      + (sequences.count == 1
        ? " (seq \(sequences.lowerBound))"
        : " (seq \(sequences.lowerBound) to \(sequences.upperBound))")
  }
}
