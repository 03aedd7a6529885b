internal import Dispatch
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal
internal import Synchronization

/// Reads many journals in several threads, and writes their rows in the order of the files.
struct RowsReading<Fold: RowsFold>: Sendable {
  let interruption: Interruption

  /// Files above this size in bytes are read one by one, and twice: once to know whether they are
  /// damaged, and once to write rows without keeping them.
  private static var largest: UInt64 { 4 << 20 }
  /// How many files are read before their rows are written.
  private static var window: Int { 64 }

  /// Writes the rows of all files, and returns what was wrong with files.
  func write(_ files: [JournalFile], to output: Output) -> FilesOutcome {
    var outcome = FilesOutcome()
    var next = 0
    while next < files.count, output.isOpen {
      if StatsReading.size(of: files[next]) > Self.largest {
        outcome.add(write(files[next], to: output), of: files[next])
        next += 1
        continue
      }
      var end = next + 1
      while end < min(files.count, next + Self.window),
        StatsReading.size(of: files[end]) <= Self.largest
      {
        end += 1
      }
      let part = Array(files[next..<end])
      for (file, answer) in zip(part, read(part)) {
        output.write(answer.bytes)
        outcome.add(answer.finding, of: file)
      }
      next = end
    }
    return outcome
  }

  /// The rows of one file as lines, and what is wrong with it.
  private struct Answer: Sendable {
    var bytes: [UInt8] = []
    var finding = FilesOutcome.Finding.good
  }

  private final class Board: Sendable {
    let answers: Mutex<[Answer]>

    init(_ count: Int) { answers = Mutex([Answer](repeating: Answer(), count: count)) }
  }

  /// Reads files in several threads.
  private func read(_ files: [JournalFile]) -> [Answer] {
    let board = Board(files.count)
    DispatchQueue.concurrentPerform(iterations: files.count) { index in
      guard interruption.goesOn() else { return }
      let answer = read(files[index])
      board.answers.withLock { $0[index] = answer }
    }
    return board.answers.withLock { $0 }
  }

  private func read(_ file: JournalFile) -> Answer {
    var rows: [Fold.Row] = []
    let pass = RowsPass<Fold>(file)
    let finding = pass.run { rows.append($0) }
    guard !rows.isEmpty, let source = pass.source(of: finding) else {
      return Answer(finding: finding)
    }
    var json = JSONWriter()
    for row in rows {
      row.write(to: &json, of: source)
      json.endLine()
    }
    return Answer(bytes: json.bytes, finding: finding)
  }

  private func write(_ file: JournalFile, to output: Output) -> FilesOutcome.Finding {
    let pass = RowsPass<Fold>(file)
    let finding = pass.run { _ in }
    guard let source = pass.source(of: finding) else { return finding }
    var json = JSONWriter()
    return pass.run { row in
      json.removeAll()
      row.write(to: &json, of: source)
      json.endLine()
      output.write(json.bytes)
    }
  }
}

/// One pass over a journal that results in its rows.
private struct RowsPass<Fold: RowsFold> {
  let file: JournalFile

  init(_ file: JournalFile) { self.file = file }

  /// Returns what each row of the file has; `nil` if the file's header cannot be read.
  func source(of finding: FilesOutcome.Finding) -> RowSource? {
    guard let header = finding.header else { return nil }
    return RowSource(
      journal: Identifier(header.identifier.description),
      pseudonyms: Pseudonyms(
        journal: (high: header.identifier.high, low: header.identifier.low), salt: header.salt),
      redacts: false, file: file.rawName, isDamaged: finding.isDamaged)
  }

  /// Passes on the rows of the file; reads on after damage.
  func run(_ body: (Fold.Row) -> Void) -> FilesOutcome.Finding {
    var state = State()
    do throws(ToolError) {
      let pass = try file.visitPieces(
        surveysDamageOnly: true, requiresSession: true
      ) { piece in
        state.take(piece, body) && !file.interruption.isRaised
      }
      return state.finish(pass, file, body)
    } catch {
      switch error.name {
      case .changeLog: return .changeLog
      case .interrupted: return .good
      default: return .unread(error)
      }
    }
  }

  private struct State {
    var fold = Fold()
    /// The fault of a record that ended the pass, and of the first one that was left out.
    var stop: JournalFault?
    var impossible: JournalFault?
    var last: UInt64 = 0

    mutating func take(_ piece: JournalPiece, _ body: (Fold.Row) -> Void) -> Bool {
      switch piece {
      case .record(let entry, _): return take(entry, body)
      case .unreadable(let place, let bytes):
        fold.interrupt(
          EvidenceGap(
            after: last, offset: place.offset, bytes: bytes,
            sequences: place.sequence...place.sequence), body)
      case .lost(let range): fold.interrupt(EvidenceGap(range, after: last), body)
      }
      return true
    }

    private mutating func take(_ entry: JournalEntry, _ body: (Fold.Row) -> Void) -> Bool {
      let record = entry.record
      do throws(SessionFold.Failure) {
        try fold.take(record, endsBatch: entry.remainingInBatch == 0, body)
      } catch {
        let fault = JournalFault(error, at: entry.place)
        guard case .illegal = error else {
          stop = fault
          return false
        }
        impossible = impossible ?? fault
        fold.interrupt(
          EvidenceGap(
            after: last, offset: entry.offset, bytes: 0,
            sequences: record.sequence...record.sequence, isLeftOut: true), body)
      }
      last = record.sequence
      return true
    }

    mutating func finish(
      _ pass: JournalFile.Pass, _ file: JournalFile, _ body: (Fold.Row) -> Void
    ) -> FilesOutcome.Finding {
      // As `why` does: damage that was read over is in the gaps, and other faults end the reading.
      let unread = stop ?? (pass.fault?.code == .damaged ? nil : pass.fault)
      fold.finish(damagedAt: unread.flatMap { $0.mayHideRecords ? $0.place.offset : nil }, body)
      let fault = [stop, impossible, pass.fault].compactMap { $0 }
        .min { $0.place.offset < $1.place.offset }
      return FilesOutcome.Finding(
        header: pass.header,
        error: fault?.error(
          file.name,
          consequence: stop == nil
            ? "The rows are from what can be read." : "The rows are from the records before it."))
    }
  }
}
