@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// The result of a check of a whole journal; only the good prefix counts.
struct VerifyReport {
  private let name: String
  private let path: String
  private(set) var records: UInt64 = 0
  private(set) var batches: UInt64 = 0
  private(set) var lastSequence: UInt64 = 0
  /// The first fault by place.
  private(set) var fault: JournalFault?

  private var counts = [UInt64](repeating: 0, count: 256)
  private let redactor: Redactor
  private var decoder: RecordDecoder
  private var first: SessionRecord?
  /// The snapshot at the beginning of a compacted file; it does not count among the records.
  private var compacted: SessionRecord?
  private var snapshot = StateSnapshot()
  /// The state of another log; `nil` for a session's journal, and without records.
  private var other: OtherLog?
  private var isFirst = true
  private var pass: JournalFile.Pass?
  private var goodBytes: UInt64 = 0

  init(of file: JournalFile) throws(ToolError) {
    (name, path, redactor) = (file.name, file.rawName, file.redactor)
    decoder = file.decoder(for: try file.header())
  }

  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
    // After the first fault only the checksums of frames are checked.
    guard fault == nil else { return }
    let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
    if isFirst { other = OtherLog(kind: frame.kind, payload: payload) }
    isFirst = false
    do throws(CodecError) {
      if other != nil {
        fault = try other?.take(frame, payload).fault
        guard fault == nil else { return }
        lastSequence = frame.sequence
        guard frame.kind != SessionRecord.snapshotKind else { return }
      }
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      try count(record, frame)
    } catch {
      fault = .undecodable(place, error)
    }
  }

  private mutating func count(_ record: SessionRecord, _ frame: JournalFrame) throws(CodecError) {
    do throws(SessionFold.Failure) {
      try snapshot.apply(record)
    } catch {
      fault = JournalFault(
        error, at: JournalPlace(sequence: frame.sequence, offset: frame.offset))
      return
    }
    lastSequence = record.sequence
    guard frame.kind != SessionRecord.snapshotKind else {
      compacted = record
      return
    }
    if first == nil { first = record }
    records += 1
    counts[Int(frame.kind)] += 1
    if frame.remainingInBatch == 0 { batches += 1 }
  }

  mutating func finish(_ pass: JournalFile.Pass) {
    self.pass = pass
    goodBytes = fault?.place.offset ?? pass.totals.bytes
    fault = fault ?? pass.fault
  }

  private var events: [(name: String, count: UInt64)] {
    SessionEvent.Kind.allCases.map { ($0.description, counts[Int($0.rawValue)]) }
      .filter { $0.1 > 0 }
  }

  private var notes: [(name: String, count: UInt64)] {
    SessionNote.Kind.allCases.map { ($0.description, counts[Int($0.rawValue)]) }
      .filter { $0.1 > 0 }
  }

  private var changeCounts: [(name: String, count: UInt64)] {
    guard case .changes = other else { return [] }
    return ChangeEvent.Kind.allCases.map { ($0.description, counts[Int($0.rawValue)]) }
      .filter { $0.1 > 0 }
  }

  private var unknown: UInt64 {
    guard other?.kind != .accounts else { return 0 }
    return records - events.reduce(0) { $0 + $1.count } - notes.reduce(0) { $0 + $1.count }
      - changeCounts.reduce(0) { $0 + $1.count }
  }
}

extension VerifyReport {
  func text(zone: TimeZoneChoice, style: Style) -> String {
    let verdict =
      switch fault?.code {
      case nil: style.green("good")
      case .tail?: style.yellow("good but for its tail (\(fault.verdict.rawValue))")
      default: style.red("not good (\(fault.verdict.rawValue))")
      }
    var text = "\(name.printable) is \(verdict)\n"
    for (label, value) in lines(zone) {
      text += "  \(style.dim(label.padded(to: 8)))  \(value)\n"
    }
    return text
  }

  private func lines(_ zone: TimeZoneChoice) -> [(String, String)] {
    var lines: [(String, String)] = []
    if let header = pass?.header {
      lines.append(("journal", "\(redactor.journal(header)), format \(header.formatVersion)"))
    }
    if case .snapshot(let fold)? = compacted?.content {
      lines.append(("snapshot", SnapshotFormatter.text(fold, through: compacted?.sequence ?? 0)))
    }
    lines.append(("records", recordsLine))
    if !events.isEmpty { lines.append(("events", list(events))) }
    if !notes.isEmpty { lines.append(("notes", list(notes))) }
    if !changeCounts.isEmpty { lines.append(("changes", list(changeCounts))) }
    if unknown > 0 { lines.append(("unknown", "\(unknown.grouped) from a newer version")) }
    lines.append(("batches", batches.grouped))
    lines.append(("bytes", bytesLine))
    if let room = pass?.room, room > 0 {
      lines.append(
        (
          "room",
          "\(SessionExplain.count(room, "byte")) of zeros after them, kept free to write in"
        ))
    }
    if pass?.isGrowing == true {
      let end = (pass?.end ?? 0).grouped
      lines.append(("end", "an app is writing to it; looked at up to byte \(end)"))
    }
    if let first, let last = snapshot.time {
      lines.append(("sequence", "\(first.sequence) to \(lastSequence)"))
      lines.append(("time", "\(zone.text(first.time)) to \(zone.text(last))"))
    }
    lines.append(("state", other?.line ?? snapshot.fold.state.kind.description))
    if let behind { lines.append(("behind", behind)) }
    if let survey = pass?.survey { lines += SurveyReport(survey).lines }
    return lines
  }

  private var recordsLine: String {
    let counted = events.reduce(0) { $0 + $1.count }
    var text = "\(records.grouped) good"
    if records > 0, other == nil {
      text +=
        ": \(SessionExplain.count(counted, "event")), "
        + SessionExplain.count(records - counted, "note")
    }
    if let marks = pass?.totals.watermarks, marks > 0 {
      text += "; \(SessionExplain.count(marks, "watermark")) of the journal itself"
    }
    return text
  }

  private var bytesLine: String {
    fault == nil ? goodBytes.grouped : "\(goodBytes.grouped) good"
  }

  /// What is known about the frames after a bad record; they were checked, but not decoded.
  private var behind: String? {
    guard let fault, let pass, fault != pass.fault else { return nil }
    switch fault {
    case .undecodable, .illegal, .outOfPlace, .unknownKind:
      return pass.fault.map { $0.message("the file") } ?? "every frame is whole to the end"
    case .torn, .undetermined, .damaged, .badLine, .exported:
      return nil
    }
  }

  private func list(_ counts: [(name: String, count: UInt64)]) -> String {
    counts.map { "\($0.name) \($0.count.grouped)" }.joined(separator: ", ")
  }

  /// The report as one JSON object.
  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("file", path)
      json.field("verdict", fault.verdict.rawValue)
      json.field("journal", (pass?.header).map(redactor.journal))
      json.field("format", pass?.header.formatVersion)
      json.field("snapshotSequence", compacted?.sequence)
      json.field("records", records)
      json.counts("events", events)
      json.counts("notes", notes)
      if case .changes = other { json.counts("changes", changeCounts) }
      json.field("unknown", unknown)
      json.field("watermarks", pass?.totals.watermarks)
      json.field("batches", batches)
      json.field("bytes", goodBytes)
      json.field("room", pass?.room)
      json.field("end", pass?.end)
      json.field("isGrowing", pass?.isGrowing ?? false)
      json.field("firstSequence", first?.sequence)
      json.field("lastSequence", first.map { _ in lastSequence })
      json.field("firstTime", first?.time)
      json.field("lastTime", snapshot.time)
      json.field("state", other?.kind.rawValue ?? snapshot.fold.state.kind.description)
      if let fault {
        json.object("problem") { json in
          json.field("sequence", fault.place.sequence)
          json.field("offset", fault.place.offset)
          json.field("message", fault.message(name))
        }
      } else {
        json.null("problem")
      }
      json.field("frames", (pass?.fault).verdict.rawValue)
      if let survey = pass?.survey {
        SurveyReport(survey).write(&json)
      } else {
        json.null("behind")
      }
    }
    return json.text + "\n"
  }
}

extension JSONWriter {
  fileprivate mutating func counts(_ name: StaticString, _ counts: [(name: String, count: UInt64)])
  {
    object(name) { json in
      for (name, count) in counts { json.member(named: name) { $0.value(count) } }
    }
  }
}
