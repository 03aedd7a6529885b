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

/// An engine that reads rows, and the words in which it takes their columns.
///
/// An engine that guesses types turns the versions 1.9 and 1.10 into numbers, and a text that looks like
/// a day into a date. So the type of every column is stated.
enum RowSchema: String, CaseIterable {
  case duckdb = "duckdb"
  case clickhouse = "clickhouse"
  case polars = "polars"
  case pandas = "pandas"

  static let option = CommandSyntax.Option(
    name: "schema", value: "ENGINE", values: .words(allCases.map(\.rawValue)), isAlone: true,
    help: "Write the columns and types as duckdb, clickhouse, polars or pandas takes them")

  init?(_ arguments: Arguments) throws(ToolError) {
    guard let word = arguments.value(Self.option.name) else { return nil }
    guard let engine = Self(rawValue: word) else {
      let known = Self.allCases.map(\.rawValue)
      throw .usage(
        .badValue, "--schema cannot be '\(word.shortened)'.",
        next: Suggestion.nearest(to: word, in: known).map { "--schema \($0)" }
          ?? known.joined(separator: ", "))
    }
    self = engine
  }

  /// Returns the columns as one line.
  func line(of columns: [RowColumn]) -> String {
    let fields = columns.map { column -> String in
      switch self {
      case .duckdb: "\(column.name): '\(type(of: column))'"
      case .clickhouse:
        // A key of a table may not be nullable, so only what can be absent is.
        column.isOptional
          ? "`\(column.name)` Nullable(\(type(of: column)))"
          : "`\(column.name)` \(type(of: column))"
      case .polars: "\"\(column.name)\": pl.\(type(of: column))"
      case .pandas: "\"\(column.name)\": \"\(type(of: column))\""
      }
    }
    let line = fields.joined(separator: ", ")
    return self == .clickhouse ? line : "{\(line)}"
  }

  private func type(of column: RowColumn) -> String {
    switch (self, column.kind) {
    case (.duckdb, .text): "VARCHAR"
    case (.duckdb, .time): "TIMESTAMP"
    case (.duckdb, .flag): "BOOLEAN"
    case (.duckdb, .milliseconds): "BIGINT"
    case (.duckdb, .count(8)): "UTINYINT"
    case (.duckdb, .count(16)): "USMALLINT"
    case (.duckdb, .count(32)): "UINTEGER"
    case (.duckdb, .count): "UBIGINT"
    case (.clickhouse, .time): "DateTime64(3, 'UTC')"
    case (.clickhouse, .flag): "Bool"
    case (.polars, .time): "Datetime(\"ms\", \"UTC\")"
    case (.polars, .flag): "Boolean"
    // polars 2.1.0 reads no whole number below 32 bits from lines of JSON.
    case (.polars, .count(let bits)): "UInt\(max(bits, 32))"
    // pandas 3.1.1: `string` keeps a text as it is, and `Int64` can be absent, unlike `int64`.
    case (.pandas, .text): "string"
    case (.pandas, .time): "datetime64[ms, UTC]"
    case (.pandas, .flag): "boolean"
    case (_, .text): "String"
    case (_, .milliseconds): "Int64"
    case (_, .count(let bits)): "UInt\(bits)"
    }
  }
}
