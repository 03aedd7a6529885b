@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The lines of an export: JSON that `import` reads (Specs/ReplayFiles.md, "Lines").
struct ExportLines: Sendable {
  /// The replacement of names; `nil` if real names are shown.
  let redaction: Redaction?

  func header(_ header: ExportHeader) -> String {
    line(.header) { json in
      json.field("journal", header.journal)
      json.field("format", header.format)
      json.field("maximumRecordSize", header.maximumRecordSize)
      json.field("firstSequence", header.firstSequence)
      json.field("redacted", header.isRedacted)
      json.field("partial", header.isPartial)
    }
  }

  func record(_ item: ExportItem) -> String {
    let shown = redaction?.record(item.record) ?? item.record
    return line(LineClass(shown.content), item.record.sequence) { json in
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

  func watermark(_ sequence: UInt64) -> String {
    line(.watermark, sequence) { _ in }
  }

  /// Returns the last line, without which an export is incomplete.
  func end(records: UInt64, lastSequence: UInt64, _ ending: ExportEnding) -> String {
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
struct ExportItem: Sendable {
  let record: SessionRecord
  let remainingInBatch: UInt16
  /// The payload's bytes in the file.
  let payload: [UInt8]
  /// The fold of all records up to this one; the gate that accepts the record sets it.
  var after = SessionFold()
}

extension SessionRecord {
  /// Whether its payload has bytes that this version cannot interpret.
  fileprivate var hasWordlessBytes: Bool {
    if case .unknown(let unknown) = content { return !unknown.payload.isEmpty }
    return hasUnknownFields
  }
}
