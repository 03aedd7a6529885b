internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// `repair`: copies the good prefix of a journal, byte for byte, into a new journal.
struct RepairCommand: Command {
  static let inputs = CommandInputs.journals

  static let name = "repair"
  static let syntax = CommandSyntax(
    name: name, summary: "Make a good journal of what is good of a damaged one",
    discussion: """
      Copies what comes before the first fault, byte for byte, into OUT, and everything after it into
      OUT.dropped; both together are the file, but for the record that OUT ends with: if what is dropped
      may have been acknowledged, a note (tailCut) says so, with the time of the last record before it.
      FILE is not changed. Of a record that is not good its whole batch is dropped. OUT is read back
      from its first byte before it gets its name.

      --in-place puts the new file in FILE's place, under the journal's locks; all of FILE is kept
      beside it first (FILE.aside-N-repaired-TIME). Whatever interrupts it leaves the old file or the
      new one. Close the apps that use the journal before, or start them again afterwards: one that has
      read what is dropped refuses to write to the new file.

      What is dropped is gone for the app: its state is then that of the last good record. An app
      that opens a damaged journal sets it aside and goes on by itself, and cuts an unfinished tail
      off; repair is for looking at it, and for going on with what it had.
      Exit codes: 0 repaired; 3 there is nothing to repair.
      """,
    operands: [.init(name: "FILE", help: "A journal or its folder; - reads standard input")],
    options: [
      .init(
        name: "output", letter: "o", value: "OUT", values: .path,
        help: "The journal to make, mode 0600"),
      .init(
        name: "dropped", value: "PATH", values: .path,
        help: "Where what is dropped goes; OUT.dropped if not said"),
      .init(name: "in-place", help: "Replace FILE, and keep all of it beside it"),
      .init(name: "dry-run", help: "Say what would be kept and dropped, and write nothing"),
      .init(name: "force", help: "Replace OUT and OUT.dropped if they are there"),
      .init(name: "json", help: "Write JSON for programs"),
    ],
    examples: [
      .init(line: "sessionreplay repair a.journal --dry-run", help: "What would be lost?"),
      .init(
        line: "sessionreplay repair damaged.journal -o a.fixed", help: "A good file, and the rest"),
      .init(line: "sessionreplay repair torn.journal --in-place", help: "With its apps closed"),
    ])

  let display: DisplayOptions
  private let way: Way

  /// What happens with the good prefix.
  private enum Way: Sendable {
    case nothing
    case inPlace
    case file(String, dropped: String, mayReplace: Bool)
  }

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    let isInPlace = arguments.has("in-place")
    let named = ["output", "dropped"].filter { arguments.value($0) != nil }
    let ways = named + ["in-place", "force"].filter(arguments.has)
    if arguments.has("dry-run"), let way = ways.first {
      throw .usage(
        .conflict, "--dry-run writes nothing, so --\(way) has no effect.",
        next: "only one of them")
    }
    if isInPlace, arguments.has("force") {
      throw .usage(
        .conflict, "--force replaces OUT, and --in-place has none.", next: "--in-place alone")
    }
    if isInPlace, arguments.value("output") != nil || arguments.value("dropped") != nil {
      throw .usage(
        .conflict, "--in-place makes no other file than the backup beside FILE.",
        next: "--in-place without -o and --dropped")
    }
    if arguments.has("dry-run") {
      way = .nothing
    } else if isInPlace {
      way = .inPlace
    } else {
      let path = try arguments.newJournal(orElse: ["--in-place", "--dry-run"])
      if let dropped = arguments.value("dropped"), dropped.isEmpty || dropped == "-" {
        throw .usage(
          .noOutput, "--dropped needs the name of a file: what goes there is read back.",
          next: "--dropped \((path + ".dropped").quotedWhereNeeded)")
      }
      way = .file(
        path, dropped: arguments.value("dropped") ?? path + ".dropped",
        mayReplace: arguments.has("force"))
    }
  }

  var answersOnOutput: Bool {
    if case .nothing = way { true } else { false }
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    for file in files {
      let report: RepairReport
      switch way {
      case .nothing: report = RepairReport(file, try judge(file), .nothing)
      case .inPlace: report = try repairInPlace(file)
      case .file(let path, let dropped, let mayReplace):
        report = try copy(file, path, dropped, mayReplace, context)
      }
      context.output.write(display.isJSON ? report.json : report.text)
      context.output.flush()
      if context.output.failure != nil, let done = report.doneUntold { throw done }
      guard report.finding.fault != nil else { return .answerIsNo }
    }
    return .ok
  }

  // MARK: - Examination

  private func judge(_ file: JournalFile) throws(ToolError) -> RepairFinding {
    let finding: RepairFinding
    do throws(JournalError) {
      var reader = try JournalReader(path: file.path, fileSystem: file.files)
      finding = try RepairFinding(&reader)
    } catch {
      throw ToolError(error, in: file)
    }
    try require(finding, file)
    return finding
  }

  /// Throws if the rest may not be dropped, or if the good prefix cannot be kept.
  private func require(_ finding: RepairFinding, _ file: JournalFile) throws(ToolError) {
    guard let fault = finding.fault else { return }
    if case .unknownKind = fault {
      throw fault.error(
        file.name, consequence: "Nothing was written: what a newer version wrote is no damage.")
    }
    guard !finding.lacksSnapshot else {
      throw fault.error(
        file.name,
        consequence:
          "Nothing was written: its first record stands for all before it, and nothing good is left "
          + "without it.", next: "a copy of the file")
    }
    // Without records the new file would look like a session's journal.
    guard !finding.isOther || finding.records > 0 else {
      throw fault.error(
        file.name,
        consequence: "Nothing was written: nothing good is left of the change log without it.",
        next: "a copy of the file")
    }
  }

  // MARK: - Into another file

  private func copy(
    _ file: JournalFile, _ path: String, _ droppedPath: String, _ mayReplace: Bool,
    _ context: ToolContext
  ) throws(ToolError) -> RepairReport {
    let finding = try judge(file)
    guard finding.fault != nil else { return RepairReport(file, finding, .nothing) }
    let kept = try OutputFile(path, overwrite: mayReplace, inputs: [file.path])
    let dropped = try OutputFile(droppedPath, overwrite: mayReplace, inputs: [file.path])
    guard !kept.isAtPlace(of: dropped) else {
      throw .usage(
        .conflict, "--dropped cannot be the file that the journal goes to.",
        next: "--dropped \((path + ".dropped").quotedWhereNeeded)")
    }
    let reader = try open(file)
    try fill(kept, reader, 0..<finding.end, file, context)
    let mark = finding.mark(orAt: Self.now())
    let length = finding.end + (try append(mark, to: kept, file))
    try fill(dropped, reader, finding.end..<finding.size, file, context)
    try verify(kept, finding, mark, length, file)
    try OutputFile.requireGoingOn(context)
    // The dropped bytes are named first: if OUT exists, nothing is missing.
    try dropped.finish()
    do throws(ToolError) {
      try kept.finish()
    } catch {
      var error = error
      if !kept.isNamed, !dropped.withdraw() {
        error.consequence =
          "\(droppedPath.quotedWhereNeeded) was replaced already, by what would be dropped; "
          + "\(file.name) is as it was."
      }
      throw error
    }
    return RepairReport(file, finding, .file(path, dropped: droppedPath))
  }

  /// Appends the record about the dropped bytes; returns the number of bytes that it takes.
  private func append(_ mark: RepairMark?, to kept: OutputFile, _ file: JournalFile)
    throws(ToolError) -> UInt64
  {
    guard let mark else { return 0 }
    let bytes: [UInt8]
    do throws(JournalError) {
      var reader = try JournalReader(path: kept.draft, fileSystem: file.files)
      bytes = try reader.continuation(mark.draft)
    } catch {
      throw ToolError(error, in: file)
    }
    do throws(OutputFailure) {
      try kept.write(bytes[...])
    } catch {
      throw OutputFile.failed(kept.path, error.code)
    }
    return UInt64(bytes.count)
  }

  private func open(_ file: JournalFile) throws(ToolError) -> JournalReader {
    do throws(JournalError) {
      return try JournalReader(path: file.path, fileSystem: file.files)
    } catch {
      throw ToolError(error, in: file)
    }
  }

  /// Writes a part of the journal and reads it back.
  private func fill(
    _ target: OutputFile, _ reader: borrowing JournalReader, _ range: Range<UInt64>,
    _ file: JournalFile, _ context: ToolContext
  ) throws(ToolError) {
    try pieces(of: reader, range, file, context) { (bytes, _) throws(ToolError) in
      do throws(OutputFailure) {
        try target.write(bytes[...])
      } catch {
        throw OutputFile.failed(target.path, error.code)
      }
    }
    try pieces(of: reader, range, file, context) { (bytes, place) throws(ToolError) in
      guard try target.bytes(bytes.count, at: place - range.lowerBound) == bytes else {
        throw ToolError(
          .inputOutput, .inputOutput,
          "\(target.path.quotedWhereNeeded) does not read back as \(file.name) is now.",
          consequence: "It was removed again.",
          next: "--in-place if an app is writing to \(file.name); else check the disk")
      }
    }
  }

  private func pieces(
    of reader: borrowing JournalReader, _ range: Range<UInt64>, _ file: JournalFile,
    _ context: ToolContext, _ take: ([UInt8], UInt64) throws(ToolError) -> Void
  ) throws(ToolError) {
    var place = range.lowerBound
    while place < range.upperBound {
      try OutputFile.requireGoingOn(context)
      let end = min(range.upperBound, place + 256 * 1024)
      let bytes: [UInt8]
      do throws(JournalError) {
        bytes = try reader.bytes(in: place..<end)
      } catch {
        throw ToolError(error, in: file)
      }
      guard bytes.count == Int(end - place) else {
        throw ToolError(
          .damaged, .damaged, "\(file.name) became shorter while it was read.",
          consequence: "Nothing was written.", next: "again, with --in-place if an app is using it")
      }
      try take(bytes, place)
      place = end
    }
  }

  /// Checks that the new journal is good to its last byte and has the good records of the old one.
  private func verify(
    _ kept: OutputFile, _ finding: RepairFinding, _ mark: RepairMark?, _ length: UInt64,
    _ file: JournalFile
  ) throws(ToolError) {
    let draft = JournalFile(
      path: kept.draft, name: kept.path.quotedWhereNeeded, interruption: file.interruption)
    let again = try judge(draft)
    // Another log without records looks like a session's journal.
    guard again.fault == nil, again.size == length, again.end == length,
      again.records == finding.records + (mark == nil ? 0 : 1),
      again.fold == mark.map({ $0.applied(to: finding.fold) }) ?? finding.fold,
      again.records == 0 || again.other?.log == finding.other?.log
    else {
      throw ToolError(
        .unexpected, .unexpected, "The repaired journal is not what was good of the old one.",
        consequence: "It was removed again.", next: "report this as a bug")
    }
  }

  // MARK: - In place

  private func repairInPlace(_ file: JournalFile) throws(ToolError) -> RepairReport {
    guard !file.isStandardInput, !file.path.hasPrefix("/dev/fd/") else {
      throw .usage(
        .conflict, "--in-place replaces a file, and standard input is none.",
        next: "the file's name, or -o")
    }
    var finding: RepairFinding?
    var refusal: ToolError?
    let rescue: JournalRescue?
    do throws(JournalError) {
      var options = JournalOptions()
      options.fileSystem = file.files
      let mark = { finding.flatMap { $0.mark(orAt: Self.now()) }?.draft }
      rescue = try Journal.rescue(file.path, time: Self.stamp(), options: options, mark: mark) {
        (reader) throws(JournalError) in
        let found = try RepairFinding(&reader)
        // The second call is about the new file.
        guard finding == nil else { return found.fault == nil ? nil : found.end }
        finding = found
        do throws(ToolError) {
          try require(found, file)
        } catch {
          refusal = error
        }
        return found.fault == nil || refusal != nil ? nil : found.end
      }
    } catch {
      throw Self.refusal(error, file)
    }
    if let refusal { throw refusal }
    guard let finding else {
      throw ToolError(.unexpected, .unexpected, "\(file.name) was not looked at.")
    }
    guard let rescue else { return RepairReport(file, finding, .nothing) }
    return RepairReport(file, finding, .inPlace(backup: rescue.backup))
  }

  private static func now() -> Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(milliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
  }

  /// Returns `20261121T140005Z`, with letters and digits only, for a file's name.
  private static func stamp() -> String {
    let text = now().description
    return text.prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" } + "Z"
  }

  private static func refusal(_ error: JournalError, _ file: JournalFile) -> ToolError {
    // This check comes first, because an interrupted read looks like another error.
    guard !file.interruption.isRaised else { return file.interruption.error }
    let next = "repair it into another file: -o OUT"
    switch error {
    case .hardLinked, .readOnlyFolder, .compactionRefused(_, .otherOwner):
      return ToolError(
        .cannotCreate, .cannotCreate, "\(file.name) cannot be replaced: \(words(error)).",
        consequence: "Nothing was changed.", next: next)
    case .diskFull:
      return ToolError(
        .inputOutput, .output, "There is no room beside \(file.name) for its copies.",
        consequence: "Nothing was changed.", next: "free some space, or repair it into another file"
      )
    case .permissionDenied:
      return ToolError(
        .inputOutput, .permissionDenied, "This user may not change \(file.name).",
        consequence: "Nothing was changed.", next: next)
    case .compactionRefused:
      return ToolError(
        .inputOutput, .inputOutput, "The new file does not read back as it was written.",
        consequence: "Nothing was changed.", next: "check the disk")
    default: return ToolError(error, in: file)
    }
  }

  private static func words(_ error: JournalError) -> String {
    switch error {
    case .hardLinked(_, let links):
      "it has \(links) names (hard links), and the old file would go on under the others"
    case .readOnlyFolder: "its folder cannot be written to"
    default: "it belongs to another user, who could not open the new file"
    }
  }
}
