internal import SessionExplain
internal import SessionJournal

/// What a command about many files found wrong with them.
struct FilesOutcome: Sendable {
  /// What reading one file showed.
  struct Finding: Sendable {
    /// The header; `nil` if it could not be read, or the file is a change log.
    var header: JournalHeader?
    var error: ToolError?
    /// Whether the file holds no session but the changes of an app.
    var isChangeLog = false

    static let good = Finding()

    /// Returns the finding of a file that could not be read at all.
    static func unread(_ error: ToolError) -> Finding {
      switch error.name {
      case .changeLog: Finding(isChangeLog: true)
      case .interrupted: good
      default: Finding(error: error)
      }
    }

    /// Whether acknowledged records are lost or not possible.
    var isDamaged: Bool { error?.code == .damaged }
  }

  /// The number of files that are named; others are counted.
  static let named = 20

  /// The number of files that were read, at least in part.
  private(set) var read = 0
  /// The number of files with the tail of an unfinished commit.
  private(set) var tails = 0
  private(set) var errors: [ToolError] = []
  private(set) var changeLogs: [JournalFile] = []
  /// The files of folders that are no exports.
  private var foreign: [JournalFile] = []
  /// The first file of each journal, and the files that have the journal of another file.
  private var journals: [JournalIdentifier: String] = [:]
  private var doubled: [(file: String, first: String)] = []

  /// Creates an outcome with the errors of folders that could not be listed.
  init(_ refused: [ToolError] = []) { errors = refused }

  /// Adds what reading a file showed; returns what is wrong with the file.
  @discardableResult
  mutating func add(_ finding: Finding, of file: JournalFile) -> ToolError? {
    guard !finding.isChangeLog else {
      changeLogs.append(file)
      return nil
    }
    if let error = finding.error, finding.header == nil, file.isForeign(error) {
      foreign.append(file)
      return nil
    }
    if let header = finding.header {
      read += 1
      if let first = journals[header.identifier] {
        doubled.append((file.name, first))
      } else {
        journals[header.identifier] = file.name
      }
    }
    guard let error = finding.error else { return nil }
    tails += error.code == .tail ? 1 : 0
    errors.append(error)
    return error
  }

  /// Names on standard error what was wrong, and returns the exit code.
  ///
  /// Damaged files do not change the code, unless `isStrict` is true or no file could be read.
  func report(isStrict: Bool, isJSON: Bool, _ context: ToolContext) throws(ToolError) -> ExitCode {
    try check(isJSON: isJSON, context)
    list(isJSON: isJSON, context)
    return code(isStrict: isStrict)
  }

  /// Names the problems on standard error; only counts them if the answer has named them.
  func list(isJSON: Bool, isNamed: Bool = false, _ context: ToolContext) {
    let lines = isJSON ? errors.map(\.json) : lines(isNamed: isNamed).map { $0 + "\n" }
    for line in lines { context.errors.write(line) }
  }

  /// Names on standard error what is left out and what counts twice, unless the answer is JSON.
  ///
  /// Throws if nothing could be read: the only error, or that no file is a session's journal.
  func check(isJSON: Bool, _ context: ToolContext) throws(ToolError) {
    if read == 0, errors.isEmpty, let first = changeLogs.first { throw try first.isNoSession() }
    if read == 0, errors.count == 1, let error = errors.first { throw error }
    if read == 0, errors.isEmpty, let first = foreign.first {
      throw ToolError(
        .missing, .noJournal, "\(first.name) is no export, and no journal was found.",
        next: "check the path")
    }
    guard !isJSON else { return }
    for file in changeLogs { context.errors.write(try file.leftOut()) }
    for file in foreign.prefix(Self.named) { context.errors.write(file.isNoExport) }
    if foreign.count > Self.named {
      context.errors.write(
        "And \(count(foreign.count - Self.named, "more file")) that are no exports.\n")
    }
    for (file, first) in doubled.prefix(Self.named) {
      context.errors.write(
        "Note: \(file.printable) and \(first.printable) have the same journal, and both count.\n")
    }
    if doubled.count > Self.named {
      context.errors.write(
        "And \(count(doubled.count - Self.named, "more file")) with the journal of another file.\n")
    }
  }

  /// Returns the worst code.
  ///
  /// A damaged file and a tail count only if `isStrict` is true, or if no file could be read.
  func code(isStrict: Bool) -> ExitCode {
    let codes = errors.map(\.code).filter {
      isStrict || read == 0 || ($0 != .damaged && $0 != .tail)
    }
    return codes.reduce(.ok, ExitCode.worse)
  }

  /// A line for each problem, as far as they are named; one line if the answer has named them.
  private func lines(isNamed: Bool) -> [String] {
    let problems = errors.filter { $0.code != .tail }
    let told = isNamed ? [] : problems.prefix(Self.named)
    var lines = told.map { error in
      (error.code == .damaged ? "Damaged: " : "Not read: ") + error.message.printable
    }
    if isNamed, !problems.isEmpty {
      lines.append("Error: \(count(problems.count, "file")) with problems, named above.")
    } else if problems.count > Self.named {
      lines.append("And \(count(problems.count - Self.named, "more file")) with problems.")
    }
    if problems.count == 1, let next = problems.first?.next {
      lines.append("Try: \(next.printable)")
    }
    let verb = tails == 1 ? "ends" : "end"
    if tails > 0 {
      lines.append("Note: \(count(tails, "journal")) \(verb) with a tail that a writer left.")
    }
    return lines
  }
}
