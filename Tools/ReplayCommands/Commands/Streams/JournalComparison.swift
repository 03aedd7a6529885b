@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// Finds the first record in which two journals differ, in bounded memory.
struct JournalComparison {
  let left: JournalFile
  let right: JournalFile

  struct Result {
    let names: [String]
    let journals: [String]
    /// The last sequence that a snapshot replaces in one of the journals; records up to it were not
    /// compared.
    let skipped: UInt64
    /// The number of equal records.
    let common: UInt64
    /// The sequence of the last equal record; 0 if there is none.
    let lastCommon: UInt64
    /// The first records that differ; `nil` for a journal that has no more.
    let first: (left: SessionRecord?, right: SessionRecord?)
    let isSame: Bool
    /// The fault that ended the reading of one journal.
    var fault: (file: JournalFile, fault: JournalFault)?
  }

  func run(_ output: Output) throws(ToolError) -> Result {
    var one = try left.open()
    var other = try right.open()
    var (a, b) = (try next(&one, left), try next(&other, right))
    // A snapshot replaces records that the other journal may still have.
    let skipped = max(a.map(Self.snapshot) ?? 0, b.map(Self.snapshot) ?? 0)
    while let record = a, record.sequence <= skipped { a = try next(&one, left) }
    while let record = b, record.sequence <= skipped { b = try next(&other, right) }
    var (common, last) = (UInt64(0), UInt64(0))
    while let x = a, let y = b, output.isOpen, Self.isSame(x, y) {
      output.pulse()
      (common, last) = (common + 1, x.sequence)
      (a, b) = (try next(&one, left), try next(&other, right))
    }
    var fault: (JournalFile, JournalFault)?
    if a == nil { fault = try self.fault(&one, left) }
    if b == nil, fault == nil { fault = try self.fault(&other, right) }
    let first: (SessionRecord?, SessionRecord?)
    do throws(CodecError) {
      first = (
        try a.map { record throws(CodecError) in
          try decoded(record, left.redactor.redaction(for: one.header))
        },
        try b.map { record throws(CodecError) in
          try decoded(record, right.redactor.redaction(for: other.header))
        }
      )
    } catch {
      throw ToolError(
        .damaged, .undecodable,
        "A record in which \(left.name) and \(right.name) differ cannot be read (seq \(last + 1)): "
          + "\(error).",
        next: "sessionreplay verify \(left.name) \(right.name)")
    }
    return Result(
      names: [left.name, right.name],
      journals: [left.redactor.journal(one.header), right.redactor.journal(other.header)],
      skipped: skipped,
      common: common, lastCommon: last, first: first, isSame: a == nil && b == nil, fault: fault)
  }

  private func next(_ reader: inout JournalReader, _ file: JournalFile) throws(ToolError)
    -> JournalRecord?
  {
    do throws(JournalError) {
      return try reader.next()
    } catch {
      throw ToolError(error, in: file)
    }
  }

  private func fault(_ reader: inout JournalReader, _ file: JournalFile) throws(ToolError)
    -> (JournalFile, JournalFault)?
  {
    do throws(JournalError) {
      return JournalFault(try reader.frozenEnding()).map { (file, $0) }
    } catch {
      throw ToolError(error, in: file)
    }
  }

  private static func snapshot(_ record: JournalRecord) -> UInt64 {
    record.isSnapshot ? record.sequence : 0
  }

  private static func isSame(_ left: JournalRecord, _ right: JournalRecord) -> Bool {
    left.sequence == right.sequence && left.kind == right.kind && left.payload == right.payload
  }

  private func decoded(_ record: JournalRecord, _ redaction: Redaction?) throws(CodecError)
    -> SessionRecord
  {
    let decoded = try SessionCodec.decode(
      sequence: record.sequence, kind: record.kind, payload: record.payload)
    return redaction?.record(decoded) ?? decoded
  }
}

extension JournalComparison.Result {
  func text(zone: TimeZoneChoice, style: Style) -> String {
    var text = ""
    if journals[0] != journals[1] {
      text += "They are two journals: \(journals[0]) and \(journals[1]).\n"
    }
    if skipped > 0 {
      text +=
        "Of the records up to @\(skipped) one of them has a snapshot; they were not compared.\n"
    }
    let both = "\(names[0].printable) and \(names[1].printable)"
    guard !isSame else { return text + "\(both) are the same: \(count(common, "record")).\n" }
    text +=
      common == 0
      ? "\(both) have no record in common.\n"
      : "\(both) are the same up to @\(lastCommon) (\(count(common, "record"))).\n"
    let words = RecordFormatter(zone: zone, style: Style(isColored: false))
    let lines = [first.left, first.right].map { record in
      record.map { words.line($0) } ?? "      no more records"
    }
    return text + style.red("- \(lines[0])") + "\n" + style.green("+ \(lines[1])") + "\n"
  }

  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("same", isSame)
      json.array("journal", journals) { $0.value($1) }
      json.field("skipped", skipped)
      json.field("common", common)
      guard !isSame else { return json.null("firstDifference") }
      json.object("firstDifference") { json in
        json.field("sequence", first.left?.sequence ?? first.right?.sequence)
        let records: [(StaticString, SessionRecord?)] = [
          ("left", first.left), ("right", first.right),
        ]
        for (name, record) in records {
          guard let record else {
            json.null(name)
            continue
          }
          json.object(name) { json in
            json.field("sequence", record.sequence)
            json.readable(record)
          }
        }
      }
    }
    json.endLine()
    return json.text
  }
}
