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

  /// Creates an outcome with the errors of folders that could not be listed.
  init(_ refused: [ToolError] = []) { errors = refused }

  mutating func add(_ finding: Finding, of file: JournalFile) {
    if finding.isChangeLog {
      changeLogs.append(file)
    } else {
      read += finding.header == nil ? 0 : 1
      tails += finding.error?.code == .tail ? 1 : 0
      if let error = finding.error { errors.append(error) }
    }
  }

  /// Names on standard error what was wrong, and returns the exit code.
  ///
  /// Damaged files do not change the code, unless `isStrict` is true or no file could be read.
  func report(isStrict: Bool, isJSON: Bool, _ context: ToolContext) throws(ToolError) -> ExitCode {
    try check(isJSON: isJSON, context)
    list(isJSON: isJSON, context)
    return code(isStrict: isStrict)
  }

  /// Names the problems on standard error.
  func list(isJSON: Bool, _ context: ToolContext) {
    let lines = isJSON ? errors.map(\.json) : lines.map { $0 + "\n" }
    for line in lines { context.errors.write(line) }
  }

  /// Names the change logs on standard error, unless the answer is JSON.
  ///
  /// Throws if nothing could be read: the only error, or that all files are change logs.
  func check(isJSON: Bool, _ context: ToolContext) throws(ToolError) {
    if read == 0, errors.isEmpty, let first = changeLogs.first { throw first.isNoSession }
    if read == 0, errors.count == 1, let error = errors.first { throw error }
    guard !isJSON else { return }
    for file in changeLogs { context.errors.write(file.leftOut) }
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

  /// A line for each problem, as far as they are named.
  private var lines: [String] {
    let problems = errors.filter { $0.code != .tail }
    var lines = problems.prefix(Self.named).map { error in
      (error.code == .damaged ? "Damaged: " : "Not read: ") + error.message.printable
    }
    if problems.count > Self.named {
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
