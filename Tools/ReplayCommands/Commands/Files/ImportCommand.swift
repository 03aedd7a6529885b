@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// `import`: creates a journal from an export.
struct ImportCommand: JournalCommand {
  static let inputs = CommandInputs.other

  static let name = "import"
  static let syntax = CommandSyntax(
    name: name, summary: "Make a journal of an export's lines",
    discussion: """
      Reads what export wrote as jsonl and makes the journal that it came from: the same records with
      the same sequences, in the same batches. Of an export without names it makes the journal with
      pseudonyms. Every line is checked: none is missing, none has an unknown key or value, and each
      event is possible in the state before it. The new file is read back before it gets its name. If
      a line is wrong, the error names its number, and no file is made.
      """,
    operands: [
      .init(name: "FILE", help: "Lines of an export; - reads them from standard input")
    ],
    options: [
      .init(
        name: "output", letter: "o", value: "OUT", values: .path,
        help: "The journal to make, mode 0600"),
      .init(name: "force", help: "Replace OUT if it is there"),
      .init(name: "dry-run", help: "Check every line and make nothing"),
      .init(name: "json", help: "Write JSON for programs"),
    ],
    examples: [
      .init(line: "sessionreplay import a.jsonl -o b.journal", help: "Make b.journal"),
      .init(line: "sessionreplay import a.jsonl --dry-run", help: "Is every line good?"),
    ])

  let display: DisplayOptions
  private let target: String?
  private let mayReplace: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    mayReplace = arguments.has("force")
    target = arguments.has("dry-run") ? nil : try arguments.newJournal(orElse: ["--dry-run"])
  }

  var answersOnOutput: Bool { target == nil }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    try file.requireLines()
    var lines = try InputLines(file, context.interruption)
    var reader = ImportReader()
    if let target {
      let made = try OutputFile(target, overwrite: mayReplace, inputs: [file.path])
      var writer = JournalWriter(made)
      try read(&lines, &reader, file, context) { (step, hasSnapshot) throws(ToolError) in
        try writer.take(step, hasSnapshot: hasSnapshot)
      }
      try writer.finish(reader, file.interruption)
      try OutputFile.requireGoingOn(context)
      try made.finish()
    } else {
      try read(&lines, &reader, file, context) { _, _ in }
    }
    if !display.isJSON, let ending = reader.ending, ending != .clean, ending != .until {
      context.errors.write(
        "Note: the export ends at a fault of its journal (\(ending.rawValue)): what came after it "
          + "is not in it.\n")
    }
    context.output.write(display.isJSON ? json(file, reader) : text(file, reader))
  }

  private func read(
    _ lines: inout InputLines, _ reader: inout ImportReader, _ file: JournalFile,
    _ context: ToolContext, _ take: (ImportReader.Step, Bool) throws(ToolError) -> Void
  ) throws(ToolError) {
    while let line = try lines.next() {
      try OutputFile.requireGoingOn(context)
      let step: ImportReader.Step
      do throws(ImportProblem) {
        step = try reader.take(line)
      } catch {
        throw problem(error, file, line: lines.number)
      }
      try take(step, reader.hasSnapshot == true)
    }
    do throws(ImportProblem) {
      try reader.finish()
    } catch {
      throw problem(error, file, line: lines.number + 1)
    }
  }

  private func problem(_ problem: ImportProblem, _ file: JournalFile, line: Int) -> ToolError {
    ToolError(
      .damaged, ToolError.Name(problem.name), "\(file.name), line \(line): \(problem.message).",
      consequence: "Nothing was imported.",
      next: problem.next
        ?? (file.isStandardInput
          ? "look at line \(line) of the input" : "sed -n \(line)p \(file.name)"))
  }

  private func text(_ file: JournalFile, _ reader: ImportReader) -> String {
    var text = file.name + (target.map { " → \($0.quotedWhereNeeded)" } ?? " can be imported")
    text += ": \(count(reader.records, "record")) to seq \(reader.lastSequence)"
    if reader.header?.isRedacted == true { text += ", with pseudonyms" }
    text += "; \(reader.state)\n"
    if let target { text += "Next: sessionreplay verify \(target.quotedWhereNeeded)\n" }
    return text.printableLines
  }

  private func json(_ file: JournalFile, _ reader: ImportReader) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("input", file.rawName)
      json.field("output", target)
      json.field("journal", reader.header?.journal)
      json.field("records", reader.records)
      json.field("firstSequence", reader.header?.firstSequence)
      json.field("lastSequence", reader.lastSequence)
      json.field("redacted", reader.header?.isRedacted ?? false)
      json.field("state", reader.state.description)
      json.field("ending", reader.ending?.rawValue)
      json.field("isDryRun", target == nil)
    }
    return json.text + "\n"
  }
}

extension Arguments {
  /// Returns the path of the journal that `-o` names; standard output is rejected, because it
  /// cannot be read back.
  func newJournal(orElse others: [String]) throws(ToolError) -> String {
    guard let path = value("output"), !path.isEmpty, path != "-" else {
      throw .usage(
        .noOutput, "The name of the file to be made is needed: it is read back before it counts.",
        next: (["-o new.journal"] + others).joined(separator: ", or "))
    }
    return path
  }
}

extension String {
  /// The text with its lines made printable, so that nothing in them moves a cursor.
  var printableLines: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
      .joined(separator: "\n")
  }
}

/// Writes a journal record by record, from its header to its last frame.
private struct JournalWriter {
  private static let pieceSize = 256 * 1024

  private let file: OutputFile
  private var encoder = ExportEncoder(salt: UInt64.random(in: .min ... .max))
  /// The number of bytes that were written.
  private var size: UInt64 = 0

  init(_ file: OutputFile) {
    self.file = file
  }

  mutating func take(_ step: ImportReader.Step, hasSnapshot: Bool) throws(ToolError) {
    encoder.take(step, hasSnapshot: hasSnapshot)
    if encoder.size > Self.pieceSize { try write() }
  }

  private mutating func write(isLast: Bool = false) throws(ToolError) {
    do throws(OutputFailure) {
      try file.write(encoder.bytes)
    } catch {
      throw OutputFile.failed(file.path, error.code)
    }
    size += UInt64(encoder.size)
    encoder.removeBytes()
    file.synchronize(isLast: isLast)
  }

  /// Writes the rest, reads the journal back and checks it.
  ///
  /// Each frame has the checksum of its payload and that of the frame before it. So an equal last
  /// checksum shows that the file has the frames that were made, and no others. The fold of the lines
  /// has checked the payload of each of them.
  mutating func finish(_ reader: ImportReader, _ interruption: Interruption) throws(ToolError) {
    try write(isLast: true)
    let draft = JournalFile(
      path: file.draft, name: file.path.quotedWhereNeeded, interruption: interruption)
    var back = try draft.open()
    var ending = JournalEnding.clean
    try draft.onJournal { () throws(JournalError) in
      try back.visit { _, _ in true }
      ending = try back.frozenEnding()
    }
    guard ending == .clean, back.header == encoder.header, back.wholeEnd.offset == size,
      back.wholeEnd.chain == encoder.chain, back.lastSequence == reader.lastSequence
    else {
      throw ToolError(
        .unexpected, .unexpected,
        "The journal made of the lines does not read back as what they say.",
        consequence: "It was removed again.", next: "check the disk, and report this as a bug")
    }
  }
}

extension OutputFailure {
  /// The system's `errno` for it.
  var code: Int32 {
    switch self {
    case .closed: 32
    case .refused(let code): code
    }
  }
}

extension ToolError.Name {
  /// Returns the error's name for an import problem.
  init(_ name: ImportProblem.Name) {
    switch name {
    case .badLine: self = .badLine
    case .unknownField: self = .unknownField
    case .gap: self = .gap
    case .illegalLine: self = .illegalLine
    case .partial: self = .partial
    }
  }
}
