@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Reads the lines of an export one by one, and rejects lines that no export has.
struct ImportReader {
  /// The content of a line.
  enum Step: Equatable {
    case header(ExportHeader)
    case record(ImportRecord)
    case watermark(sequence: UInt64)
    /// What a support report says of the records; no record of the journal.
    case explanation
    case end
  }

  /// The maximum size of a batch, header and padding of each record included
  /// (Specs/JournalFormat.md).
  private static let batchSize = 16 * 1024 * 1024

  private(set) var header: ExportHeader?
  /// What the header allows, in bytes; it is compared with each record.
  private var longestPayload = 0
  /// Whether the journal begins with a snapshot; known after the line that follows the header.
  private(set) var hasSnapshot: Bool?
  /// The fold of all records so far.
  private var fold = PayloadFold()
  /// The state after the last record.
  private(set) var state = SessionFold().state.kind
  /// The number of records so far, a snapshot included.
  private(set) var records: UInt64 = 0
  /// The explanation of a support report.
  private(set) var explanation: ReportedExplanation?
  /// Whether a record is an opening.
  private var hasOpening = false
  /// How the exported journal ends; known after the last line.
  private(set) var ending: ExportEnding?
  /// The expected sequence.
  private var due: UInt64 = 1
  /// The number of records that the open batch still needs; 0 between two batches.
  private var remaining: UInt16 = 0
  private var batchBytes = 0
  /// The structure of the last line.
  private var tape = JSONTape()

  /// The sequence of the last line that has one; one less than the first sequence if there is none.
  var lastSequence: UInt64 { due - 1 }

  /// Reads the next line, which is given without its line feed.
  mutating func take(_ line: ArraySlice<UInt8>) throws(ImportProblem) -> Step {
    guard ending == nil else {
      // An editor may have added empty lines at the end.
      guard line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else {
        throw ImportProblem(.badLine, "it stands behind the line of the end")
      }
      return .end
    }
    if header == nil { try refuseMark(line) }
    var object = try object(line)
    guard header != nil else { return .header(try takeHeader(&object)) }
    let word = try object.text("class")
    switch LineClass(rawValue: word) {
    case .event, .note, .snapshot, .unknown:
      beginWithoutSnapshot(unless: word == LineClass.snapshot.rawValue)
      return .record(try takeRecord(&object, word))
    case .watermark:
      beginWithoutSnapshot(unless: false)
      let sequence = try takeSequence(&object)
      try object.finish()
      // A watermark may be the last frame of a batch.
      if remaining == 1 { remaining = 0 }
      try requireBetweenBatches("a watermark")
      due += 1
      return .watermark(sequence: sequence)
    case .explanation:
      beginWithoutSnapshot(unless: false)
      // A report leaves records out, so the other lines may say less.
      try requireBetweenBatches("an explanation")
      if object.has("explanation") {
        explanation = tape.root.member("explanation").flatMap(ReportedExplanation.init)
      }
      return .explanation
    case .end:
      beginWithoutSnapshot(unless: false)
      try takeEnd(&object)
      return .end
    case .header: throw ImportProblem(.badLine, "it is a second header")
    case .change, .account, nil:
      let near = Suggestion.nearest(to: word, in: LineClass.exported.map(\.rawValue))
      throw ImportProblem(
        .badLine, "there is no class \"\(word.shortened)\"", next: near.map { "\"\($0)\"" })
    }
  }

  /// The app and the platform of the opening that the lines leave out; `nil` if it is not known.
  ///
  /// A support report names those of the last opening in what its app could read. That is the one
  /// before all of its lines if no line has an opening, and if no damage follows the lines.
  var opening: SessionDevice? {
    switch ending {
    case .clean, .torn, .undetermined: hasOpening ? nil : header?.source
    case .until, .damaged, .undecodable, .illegal, .unknownKind, nil: nil
    }
  }

  /// Throws if the last line is missing; called after the last line was read.
  func finish() throws(ImportProblem) {
    guard ending == nil else { return }
    throw ImportProblem(
      .badLine,
      header == nil
        ? "there is no line at all" : "the line of the end is missing: the export was cut",
      next: "export again")
  }

  /// Whether a line looks like the header of an export, even if it is cut or of another version.
  static func claimsToBeHeader(_ line: ArraySlice<UInt8>) -> Bool {
    line.prefix(4_096).contains("\"class\":\"header\"".utf8)
  }

  /// Throws if the file begins with a byte order mark, which some editors add and do not show.
  private func refuseMark(_ line: ArraySlice<UInt8>) throws(ImportProblem) {
    guard !line.starts(with: [0xEF, 0xBB, 0xBF]) else {
      throw ImportProblem(
        .badLine, "it begins with a byte order mark (EF BB BF), which no export has",
        next: "save it as UTF-8 without one")
    }
    guard !line.starts(with: [0xFF, 0xFE]), !line.starts(with: [0xFE, 0xFF]) else {
      throw ImportProblem(
        .badLine, "it is UTF-16 by its byte order mark, and an export is UTF-8",
        next: "save it as UTF-8")
    }
  }

  private mutating func object(_ line: ArraySlice<UInt8>) throws(ImportProblem) -> ImportObject {
    do throws(JSONTape.Problem) {
      try tape.read(line)
    } catch {
      throw ImportProblem(
        .badLine, "it is no JSON: \(error.message) (byte \(error.offset + 1))",
        next: header == nil ? "the lines that sessionreplay export writes" : nil)
    }
    return try ImportRecord.object(tape)
  }

  private mutating func takeHeader(_ object: inout ImportObject) throws(ImportProblem)
    -> ExportHeader
  {
    var word: String?
    if object.has("class") { word = try object.text("class") }
    guard word == LineClass.header.rawValue else {
      throw ImportProblem(
        .badLine, "it is not the header that an export begins with",
        next: object.has("offset")
          ? "sessionreplay export; the lines of timeline are for reading" : "sessionreplay export")
    }
    let source = try Self.source(&object)
    let found = ExportHeader(
      journal: try object.text("journal"), format: try object.number("format"),
      maximumRecordSize: try object.number("maximumRecordSize"),
      firstSequence: try object.number("firstSequence"), isRedacted: try object.flag("redacted"),
      isPartial: try object.flag("partial"), source: source)
    // Other keys are about the app, and a newer version may have more of them.
    guard Identifier(found.journal).uuid != nil else {
      throw object.problem("journal", "is no UUID in small letters")
    }
    guard found.format == 1 else {
      throw object.problem("format", "is \(found.format), and this tool writes format 1")
    }
    guard (64...8_388_608).contains(found.maximumRecordSize) else {
      throw object.problem("maximumRecordSize", "is not from 64 to 8388608")
    }
    guard (1...(1 << 62)).contains(found.firstSequence) else {
      throw object.problem("firstSequence", "is not from 1 to 2^62")
    }
    guard !found.isPartial else {
      throw ImportProblem(
        .partial, "the export leaves out what came before, and no snapshot stands for it",
        next: "export without --since")
    }
    header = found
    longestPayload = Int(found.maximumRecordSize)
    due = found.firstSequence > 1 ? found.firstSequence - 1 : 1
    return found
  }

  /// Returns the app and the platform of a support report; `nil` for another export.
  private static func source(_ object: inout ImportObject) throws(ImportProblem) -> SessionDevice? {
    guard object.has("app"), object.has("platform") else { return nil }
    // A newer version may write them in another way.
    var (app, platform): (AppVersion?, Platform?) = (nil, nil)
    if let text = try object.value("app").text { app = AppVersion(text) }
    if let word = try object.value("platform").text { platform = Platform(word: word) }
    return SessionDevice(app: app, platform: platform)
  }

  /// Begins a journal without a snapshot if the line after the header is not a snapshot.
  ///
  /// The header's first sequence makes no difference then.
  private mutating func beginWithoutSnapshot(unless isSnapshot: Bool) {
    guard hasSnapshot == nil, let header else { return }
    hasSnapshot = isSnapshot && header.firstSequence > 1
    if !isSnapshot { due = header.firstSequence }
  }

  private mutating func takeSequence(_ object: inout ImportObject) throws(ImportProblem) -> UInt64 {
    let sequence: UInt64 = try object.number("sequence")
    guard sequence == due else { throw isNotDue(sequence) }
    return sequence
  }

  private func isNotDue(_ sequence: UInt64) -> ImportProblem {
    ImportProblem(.gap, "it has sequence \(sequence) where \(due) is due")
  }

  private func requireBetweenBatches(_ what: String) throws(ImportProblem) {
    guard remaining == 0 else {
      throw ImportProblem(
        .gap, "it is \(what), and \(count(remaining, "record")) of the batch before it is missing")
    }
  }

  private mutating func takeRecord(_ object: inout ImportObject, _ word: String)
    throws(ImportProblem) -> ImportRecord
  {
    // What is wrong with the sequence comes first, and then the rest of the line.
    let sequence = try takeSequence(&object)
    return try take(
      try ImportRecord(&object, word, sequence) { (left, isSnapshot) throws(ImportProblem) in
        try check(left, isSnapshot)
      })
  }

  /// Throws if a record cannot follow the records so far; `left` records of its batch follow it.
  private func check(_ left: UInt16, _ isSnapshot: Bool) throws(ImportProblem) {
    guard isSnapshot == (records == 0 && hasSnapshot == true) else {
      throw ImportProblem(
        .badLine, "a snapshot is the first record of a compacted journal and no other")
    }
    if remaining > 0 {
      guard left == remaining - 1 else {
        throw ImportProblem(
          .gap, "it leaves \(left) in its batch where \(remaining - 1) is due")
      }
    } else if isSnapshot, left > 0 {
      throw ImportProblem(
        .badLine, "\"remainingInBatch\" is \(left), and a snapshot is a batch of its own")
    }
  }

  /// Folds a record that may follow, and counts it.
  private mutating func take(_ record: ImportRecord) throws(ImportProblem) -> ImportRecord {
    try check(record.payload, isFirst: remaining == 0)
    do throws(PayloadFold.Failure) {
      state = try fold.step(
        sequence: record.sequence, kind: record.kind, payload: record.payload.span.bytes
      ).after
    } catch {
      throw ImportProblem(.illegalLine, "\(error.description)")
    }
    if record.kind == SessionNote.Kind.opened.rawValue { hasOpening = true }
    remaining = record.remainingInBatch
    records += 1
    due += 1
    return record
  }

  private mutating func check(_ payload: [UInt8], isFirst: Bool) throws(ImportProblem) {
    guard payload.count <= longestPayload else {
      throw ImportProblem(
        .badLine,
        "the record has \(payload.count) bytes, and \"maximumRecordSize\" allows \(longestPayload)"
      )
    }
    batchBytes = (isFirst ? 0 : batchBytes) + 32 + (payload.count + 7) / 8 * 8
    guard batchBytes <= Self.batchSize else {
      throw ImportProblem(.badLine, "its batch has more than 16 MiB")
    }
  }

  private mutating func takeEnd(_ object: inout ImportObject) throws(ImportProblem) {
    let (counted, last): (UInt64, UInt64) = (
      try object.number("records"), try object.number("lastSequence")
    )
    let word = try object.text("ending")
    guard let found = ExportEnding(rawValue: word) else {
      throw object.problem("ending", "cannot be \"\(word.shortened)\"")
    }
    try object.finish()
    try requireBetweenBatches("the end")
    guard counted == records, last == lastSequence else {
      throw ImportProblem(
        .gap,
        "it counts \(count(counted, "record")) to seq \(last), and there are "
          + "\(records.grouped) to seq \(lastSequence)")
    }
    ending = found
  }
}
