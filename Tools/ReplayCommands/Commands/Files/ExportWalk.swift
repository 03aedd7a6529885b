@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// A writer of an export, which receives batches of good records in order.
protocol RecordExport {
  /// Whether the destination accepts more.
  var isOpen: Bool { get }

  /// Begins the export, before the first record.
  ///
  /// If records are left out, `snapshot` replaces them. Without one, `before` is the state before
  /// the first record. `isPartial` is true if records are left out and no snapshot can replace
  /// them.
  mutating func begin(_ snapshot: ExportItem?, behind before: SessionFold, isPartial: Bool)

  /// Takes a complete batch.
  mutating func take(_ batch: [ExportItem])

  /// Reports that one more record was read, whether it is written or not.
  mutating func pulse()

  /// Ends the export.
  ///
  /// `lastSequence` is the last sequence of the journal, its own frames included; `nil` if it is
  /// unknown.
  mutating func end(_ ending: ExportEnding, lastSequence: UInt64?)
}

/// Reads a journal for an export: its good records in complete batches, between two sequences.
struct ExportWalk {
  let file: JournalFile
  let header: JournalHeader
  /// The first batch is the one with this record.
  let first: UInt64
  /// The last batch is the one with this record.
  let last: UInt64

  /// Passes the good batches to `export`.
  ///
  /// Returns the fault if the journal has one.
  func run<Export: RecordExport>(_ export: Export) throws(ToolError)
    -> JournalFault?
  {
    var export = export
    var gate = BatchGate()
    var decoder = SessionDecoder()
    var (before, lastTime) = (SessionFold(), Timestamp(milliseconds: 0))
    // It is taken from the frames, because the sequence inside a snapshot's payload may be wrong.
    var lastSequence: UInt64 = 0
    var (isBegun, isCut) = (false, false)
    var refused: JournalFault?
    func begin() {
      isBegun = true
      // A compacted journal's own snapshot is exported like any other record.
      guard lastSequence > 0 else {
        return export.begin(nil, behind: before, isPartial: false)
      }
      guard let content = before.snapshot else {
        return export.begin(nil, behind: before, isPartial: true)
      }
      let record = SessionRecord(sequence: lastSequence, time: lastTime, content: content)
      export.begin(
        ExportItem(
          record: record, remainingInBatch: 0,
          payload: SessionCodec.encode(content, at: lastTime).payload, after: before),
        behind: SessionFold(), isPartial: false)
    }
    func hand(_ batch: [ExportItem]) {
      guard let end = batch.last?.record else { return }
      if !isBegun, end.sequence >= first { begin() }
      if isBegun {
        export.take(batch)
      } else {
        (lastTime, lastSequence) = (end.time, end.sequence)
      }
    }
    let pass = try file.visitPayloads { (frame, payload) throws(CodecError) in
      hand(gate.endBatch(before: frame.sequence))
      if gate.isBetweenBatches {
        guard frame.sequence <= last else {
          isCut = true
          return false
        }
        before = isBegun ? before : gate.fold
      }
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      do throws(SessionFold.Failure) {
        hand(
          try gate.take(
            ExportItem(
              record: record, remainingInBatch: frame.remainingInBatch,
              payload: payload.withUnsafeBytes { Array($0) })))
      } catch {
        refused = JournalFault(
          error, at: JournalPlace(sequence: frame.sequence, offset: frame.offset))
        return false
      }
      export.pulse()
      return export.isOpen
    }
    guard export.isOpen else { return nil }
    if !isCut, refused == nil, pass.fault?.isUndecodable != true { hand(gate.endBatch()) }
    if !isBegun, header.beginsWithSnapshot, gate.records == 0 {
      // Even the journal's snapshot, which replaces all earlier records, cannot be read.
      isBegun = true
      export.begin(nil, behind: before, isPartial: true)
    } else if !isBegun {
      before = gate.fold
      begin()
    }
    let fault = refused ?? pass.fault
    let isAtEnd = !isCut && refused == nil && !(fault?.isUndecodable ?? false)
    export.end(
      isCut ? .until : fault.map(ExportEnding.init) ?? .clean,
      lastSequence: isAtEnd ? pass.totals.lastSequence : nil)
    return fault
  }
}

extension ExportEnding {
  fileprivate init(_ fault: JournalFault) {
    switch fault {
    case .torn: self = .torn
    case .undetermined: self = .undetermined
    case .damaged: self = .damaged
    case .undecodable: self = .undecodable
    case .illegal, .outOfPlace: self = .illegal
    case .unknownKind: self = .unknownKind
    case .badLine: self = .damaged
    case .exported(_, let verdict): self = ExportEnding(rawValue: verdict.rawValue) ?? .damaged
    }
  }
}

extension JournalFault {
  fileprivate var isUndecodable: Bool {
    if case .undecodable = self { true } else { false }
  }
}

/// An export as lines of JSON.
struct LineExport: RecordExport {
  private var writer: ExportWriter
  private let output: Output

  init(redaction: Redaction?, origin: ExportOrigin, output: Output) {
    writer = ExportWriter(redaction: redaction, of: origin)
    self.output = output
  }

  var isOpen: Bool { output.isOpen }
  mutating func begin(_ snapshot: ExportItem?, behind before: SessionFold, isPartial: Bool) {
    let output = output
    writer.begin(snapshot, isPartial: isPartial) { Self.write($0, to: output) }
  }

  mutating func take(_ batch: [ExportItem]) {
    let output = output
    writer.take(batch) { Self.write($0, to: output) }
  }

  mutating func pulse() { output.pulse() }

  mutating func end(_ ending: ExportEnding, lastSequence: UInt64?) {
    let output = output
    writer.end(ending, lastSequence: lastSequence) { Self.write($0, to: output) }
  }

  /// Writes a line; returns whether the output accepts more.
  private static func write(_ line: String, to output: Output) -> Bool {
    output.write(line)
    return output.isOpen
  }
}

extension ExportOrigin {
  /// Creates the origin of an export of the journal with this header.
  init(_ header: JournalHeader, isRedacted: Bool) {
    self.init(
      journal: header.identifier.description,
      // A newer format that this version may read is written as this version's format.
      format: min(header.formatVersion, JournalHeader.supportedVersion),
      maximumRecordSize: header.maximumRecordSize, firstSequence: header.firstSequence,
      beginsWithSnapshot: header.beginsWithSnapshot, isRedacted: isRedacted)
  }
}
