@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The lines of an export: JSON that `import` reads back (Specs/ReplayFiles.md, "Lines").
struct ExportLines: Sendable {
  /// What takes names out; `nil` where they are to be seen.
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
        // Of what has no word here nobody can say whom it tells of.
        if item.record.hasWordlessBytes { json.field("dropped", true) }
      } else if SessionCodec.encode(shown.content, at: shown.time).payload != item.payload {
        json.field("payload", item.payload.hexadecimal)
      }
    }
  }

  func watermark(_ sequence: UInt64) -> String {
    line(.watermark, sequence) { _ in }
  }

  /// The last line, without which an export is not whole.
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

/// A record as it stands in its journal.
struct ExportItem: Sendable {
  let record: SessionRecord
  let remainingInBatch: UInt16
  /// The bytes in the file.
  let payload: [UInt8]
  /// What all records up to this one come to; told by the gate that lets it through.
  var after = SessionFold()
}

extension SessionRecord {
  /// Whether its payload has bytes that this version has no word for.
  fileprivate var hasWordlessBytes: Bool {
    if case .unknown(let unknown) = content { return !unknown.payload.isEmpty }
    return hasUnknownFields
  }
}
