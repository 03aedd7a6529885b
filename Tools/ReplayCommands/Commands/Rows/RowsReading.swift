internal import Dispatch
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal
internal import Synchronization

/// Reads many journals in several threads, and passes on what is made of their rows, in the order of
/// the files.
struct RowsReading<Fold: RowsFold, Item: Sendable>: Sendable {
  let interruption: Interruption
  /// Files above this size in bytes are read one by one, and twice: once to know whether they are damaged,
  /// and once to pass rows on without keeping them.
  var largest: UInt64 = 4 << 20
  /// Makes an item of some rows of one file.
  let make: @Sendable ([Fold.Row], RowSource) -> Item

  /// How many files are read before their rows are passed on.
  private static var window: Int { 64 }
  /// How many rows of a large file make an item.
  private static var rowsAtOnce: Int { 256 }

  /// Passes on the items of all files while `body` returns true; returns what was wrong with files.
  func read(_ all: JournalFolder.Expansion, _ body: (Item) -> Bool) -> FilesOutcome {
    let files = all.files
    var outcome = FilesOutcome(all.refused)
    var next = 0
    var isOpen = true
    while next < files.count, isOpen, !interruption.isRaised {
      let start = next
      while next < min(files.count, start + Self.window), isSmall(files[next]) { next += 1 }
      guard next > start else {
        outcome.add(readLarge(files[next]) { isOpen = isOpen && body($0) }, of: files[next])
        next += 1
        continue
      }
      for (file, answer) in zip(files[start..<next], read(files[start..<next])) {
        if let item = answer.item { isOpen = isOpen && body(item) }
        outcome.add(answer.finding, of: file)
      }
    }
    return outcome
  }

  private func isSmall(_ file: JournalFile) -> Bool { file.size <= largest }

  /// What is made of one file, and what is wrong with it.
  private struct Answer: Sendable {
    var item: Item?
    var finding = FilesOutcome.Finding.good
  }

  private final class Board: Sendable {
    let answers: Mutex<[Answer]>

    init(_ count: Int) { answers = Mutex([Answer](repeating: Answer(), count: count)) }
  }

  /// Reads files in several threads.
  private func read(_ files: ArraySlice<JournalFile>) -> [Answer] {
    let board = Board(files.count)
    DispatchQueue.concurrentPerform(iterations: files.count) { index in
      guard interruption.goesOn() else { return }
      let answer = read(files[files.startIndex + index])
      board.answers.withLock { $0[index] = answer }
    }
    return board.answers.withLock { $0 }
  }

  private func read(_ given: JournalFile) -> Answer {
    var rows: [Fold.Row] = []
    return onFile(given) { pass, reader in
      let finding = pass.run(&reader) { rows.append($0) }
      guard !rows.isEmpty, let source = pass.source(of: finding) else {
        return Answer(finding: finding)
      }
      return Answer(item: make(rows, source), finding: finding)
    }
  }

  private func readLarge(_ given: JournalFile, _ body: (Item) -> Void) -> FilesOutcome.Finding {
    onFile(given) { pass, reader in
      let finding = pass.run(&reader) { _ in }
      guard let source = pass.source(of: finding) else { return Answer(finding: finding) }
      var rows: [Fold.Row] = []
      reader.seekToBeginning()
      _ = pass.run(&reader) { row in
        rows.append(row)
        guard rows.count == Self.rowsAtOnce else { return }
        body(make(rows, source))
        rows.removeAll(keepingCapacity: true)
      }
      if !rows.isEmpty { body(make(rows, source)) }
      return Answer(finding: finding)
    }.finding
  }

  /// Lends a pass over the file, which is converted if it is not a journal.
  private func onFile(
    _ given: JournalFile, _ body: (RowsPass<Fold>, inout JournalReader) -> Answer
  ) -> Answer {
    do throws(ToolError) {
      var file = given
      var reader = try JournalFile.reader(of: &file)
      return body(RowsPass<Fold>(file), &reader)
    } catch {
      return Answer(finding: .unread(error))
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
      JournalNames(header, file.redactor), isRedacted: file.redactor.isRedacting,
      file: file.rawName, isDamaged: finding.isDamaged, opening: file.original?.opening)
  }

  /// Passes on the rows of the file; reads on after damage.
  func run(_ reader: inout JournalReader, _ body: (Fold.Row) -> Void) -> FilesOutcome.Finding {
    var fold = Fold()
    var reading = PieceReading()
    do throws(ToolError) {
      let pass = try file.visitPieces(
        of: &reader, surveysDamageOnly: true, requiresSession: true
      ) { piece in
        reading.take(piece) { entry throws(SessionFold.Failure) in
          try fold.take(entry.record, endsBatch: entry.remainingInBatch == 0, body)
        } interrupt: {
          fold.interrupt($0, body)
        } && !file.interruption.isRaised
      }
      fold.finish(damagedAt: reading.damage(after: pass), body)
      return reading.finding(
        after: pass, file, rest: "The rows are from what can be read.",
        before: "The rows are from the records before it.")
    } catch {
      return .unread(error)
    }
  }
}
