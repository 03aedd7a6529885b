@_spi(Internals) package import SessionCore
import SessionJSON

/// The lines of an export: JSON that `import` reads (Specs/ReplayFiles.md, "Lines").
package struct ExportLines: Sendable {
  /// The replacement of names; `nil` if real names are shown.
  package let redaction: Redaction?

  package init(redaction: Redaction?) { self.redaction = redaction }

  package func header(_ header: ExportHeader) -> String {
    line(.header) { json in
      json.field("journal", header.journal)
      json.field("format", header.format)
      json.field("maximumRecordSize", header.maximumRecordSize)
      json.field("firstSequence", header.firstSequence)
      json.field("redacted", header.isRedacted)
      json.field("partial", header.isPartial)
      if let source = header.source {
        json.field("app", source.app?.description)
        json.field("platform", source.platform?.word)
        json.field("library", LibraryVersion.current)
      }
    }
  }

  /// Returns the line that says why the session ended, or its present state.
  ///
  /// It is about records with the same names as the other lines.
  package func explanation(_ explanation: Explanation) -> String {
    line(.explanation) { json in
      json.field("text", explanation.text)
      json.object("explanation") { $0.explanation(explanation) }
    }
  }

  package func record(_ item: ExportItem) -> String {
    let shown = redaction?.record(item.record) ?? item.record
    return line(.of(shown.content), item.record.sequence) { json in
      json.field("remainingInBatch", item.remainingInBatch)
      json.readable(shown)
      if redaction != nil {
        // Bytes that this version cannot interpret might identify a user, so they are left out.
        if item.record.hasWordlessBytes { json.field("dropped", true) }
      } else if SessionCodec.encode(shown.content, at: shown.time).payload != item.payload {
        json.field("payload", item.payload.hexadecimal)
      }
    }
  }

  package func watermark(_ sequence: UInt64) -> String {
    line(.watermark, sequence) { _ in }
  }

  /// Returns the last line, without which an export is incomplete.
  package func end(records: UInt64, lastSequence: UInt64, _ ending: ExportEnding) -> String {
    line(.end) { json in
      json.field("records", records)
      json.field("lastSequence", lastSequence)
      json.field("ending", ending.rawValue)
    }
  }

  private func line(
    _ kind: LineClass, _ sequence: UInt64? = nil, _ body: (inout JSONWriter) -> Void
  ) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("class", kind.rawValue)
      if let sequence { json.field("sequence", sequence) }
      body(&json)
    }
    return json.text + "\n"
  }
}

/// A record with its bytes in the journal.
package struct ExportItem: Sendable {
  package let record: SessionRecord
  package let remainingInBatch: UInt16
  /// The payload's bytes in the file.
  package let payload: [UInt8]
  /// The fold of all records up to this one; the gate that accepts the record sets it.
  package var after = SessionFold()

  package init(
    record: SessionRecord, remainingInBatch: UInt16, payload: [UInt8],
    after: SessionFold = SessionFold()
  ) {
    self.record = record
    self.remainingInBatch = remainingInBatch
    self.payload = payload
    self.after = after
  }
}

extension SessionRecord {
  /// Whether its payload has bytes that this version cannot interpret.
  fileprivate var hasWordlessBytes: Bool {
    if case .unknown(let unknown) = content { return !unknown.payload.isEmpty }
    return hasUnknownFields
  }
}

/// The first line of an export (Specs/ReplayFiles.md, "Lines").
package struct ExportHeader: Equatable, Sendable {
  /// The identifier of the journal, or its pseudonym.
  package let journal: String
  /// The format version of the exported file.
  package let format: UInt16
  /// The maximum size of a payload in the journal, in bytes.
  package let maximumRecordSize: UInt32
  /// The sequence of the first record that is not a snapshot; 1 if there is no snapshot.
  package let firstSequence: UInt64
  /// Whether names were replaced by pseudonyms.
  package let isRedacted: Bool
  /// Whether records before the first one are left out and no snapshot replaces them.
  package let isPartial: Bool
  /// Where the journal was written; `nil` if the lines are no support report.
  package let source: SessionDevice?

  package init(
    journal: String, format: UInt16, maximumRecordSize: UInt32, firstSequence: UInt64,
    isRedacted: Bool, isPartial: Bool, source: SessionDevice? = nil
  ) {
    self.journal = journal
    self.format = format
    self.maximumRecordSize = maximumRecordSize
    self.firstSequence = firstSequence
    (self.isRedacted, self.isPartial) = (isRedacted, isPartial)
    self.source = source
  }
}

/// The version of this library.
package enum LibraryVersion {
  package static let current = "0.1.0"
}

/// How the export or the journal ends.
package enum ExportEnding: String, CaseIterable, Sendable {
  /// The journal ends cleanly.
  case clean = "clean"
  /// The export ends before the journal does, as requested.
  case until = "until"
  case torn = "torn"
  case undetermined = "undetermined"
  case damaged = "damaged"
  case undecodable = "undecodable"
  case illegal = "illegal"
  case unknownKind = "unknownKind"
}

/// The subject of a line of JSON: its `class` in a timeline and in an export.
package enum LineClass: String, CaseIterable, Sendable {
  case event = "event"
  case note = "note"
  case snapshot = "snapshot"
  case unknown = "unknown"
  /// A record of a change log.
  case change = "change"
  /// A record of a list of accounts.
  case account = "account"
  /// The first line of an export.
  case header = "header"
  /// A watermark, a record of the journal itself.
  case watermark = "watermark"
  /// Why the session ended, in a support report.
  case explanation = "explanation"
  /// The last line of an export.
  case end = "end"

  /// Returns the class of the line of a record with this content.
  package static func of(_ content: SessionRecord.Content) -> LineClass {
    switch content {
    case .event: .event
    case .note: .note
    case .snapshot: .snapshot
    case .unknown: .unknown
    }
  }

  /// The classes of lines that may follow the first line of an export.
  package static let exported: [LineClass] = [
    .event, .note, .snapshot, .unknown, .watermark, .explanation, .end,
  ]
}

/// Accepts records in complete batches, and only records that are allowed after those before them.
///
/// `export` writes and `repair` keeps the accepted records.
package struct BatchGate {
  /// The fold of all accepted batches.
  package private(set) var fold: SessionFold
  /// The number of accepted records, a snapshot included.
  package private(set) var records: UInt64 = 0
  /// The fold of all records that were taken, those of the open batch included.
  private var working: SessionFold
  private var batch: [ExportItem] = []

  package init(_ fold: SessionFold = SessionFold()) {
    self.fold = fold
    working = fold
  }

  /// Whether the next record begins a batch.
  package var isBetweenBatches: Bool { batch.isEmpty }

  /// Takes the next record; returns the batch that it completes, or nothing.
  ///
  /// Throws if the record cannot be folded. None of its batch is accepted then, and nothing that
  /// follows.
  package mutating func take(_ item: ExportItem) throws(SessionFold.Failure) -> [ExportItem] {
    try working.apply(item.record)
    batch.append(item)
    batch[batch.count - 1].after = working
    return item.remainingInBatch == 0 ? settle() : []
  }

  /// Accepts the open batch if a watermark ended it.
  ///
  /// `next` is the sequence of the next record; `nil` after the last. A reader passes on complete
  /// batches only, and it does not pass on watermarks. A missing sequence therefore shows that a
  /// watermark ended the batch.
  @discardableResult
  package mutating func endBatch(before next: UInt64? = nil) -> [ExportItem] {
    guard let last = batch.last?.record.sequence, next != last + 1 else { return [] }
    return settle()
  }

  private mutating func settle() -> [ExportItem] {
    let whole = batch
    fold = working
    records += UInt64(whole.count)
    batch.removeAll(keepingCapacity: true)
    return whole
  }
}
