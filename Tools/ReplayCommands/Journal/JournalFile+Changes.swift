@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

// A change log is a journal, and no session's (`Specs/ChangeLog.md`).
extension JournalFile {
  /// Whether it is a change log, by the first record that can be read; a file without any is none.
  func isChangeLog() throws(ToolError) -> Bool {
    var isOne: Bool?
    var reader = try open()
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        isOne = ChangeCodec.owns(kind: frame.kind, payload: payload)
        return false
      }
      // The first record may be damaged: one after it says whose file it is.
      guard isOne == nil, case .damaged = try reader.frozenEnding(),
        let run = try reader.survey().runs.first
      else { return }
      try reader.visit(run) { frame, payload in
        isOne = ChangeCodec.owns(kind: frame.kind, payload: payload)
        return false
      }
    }
    return isOne ?? false
  }

  /// Refuses a change log where a session is asked about.
  func requireSession() throws(ToolError) {
    if try isChangeLog() { throw isNoSession }
  }

  /// Those of some files that are no change logs; the others are named in notes, where there are both.
  static func sessions(
    among files: [JournalFile], _ display: DisplayOptions, _ context: ToolContext
  ) throws(ToolError) -> [JournalFile] {
    var sessions: [JournalFile] = []
    var changeLogs: [JournalFile] = []
    for file in files {
      var isChangeLog = false
      do throws(ToolError) {
        isChangeLog = try file.isChangeLog()
      } catch {
        // Whoever reads it says what is wrong with it.
      }
      if isChangeLog { changeLogs.append(file) } else { sessions.append(file) }
    }
    if sessions.isEmpty, let first = changeLogs.first { throw first.isNoSession }
    if !display.isJSON {
      for file in changeLogs {
        context.errors.write(
          "Note: \(file.name.printable) is a change log and is left out: it holds no session.\n")
      }
    }
    return sessions
  }

  private var isNoSession: ToolError {
    .usage(
      .changeLog, "\(name) is a change log: what waits to be sent, and no session.",
      next: isStandardInput
        ? "sessionreplay state -, on the same input"
        : "sessionreplay state \(name); timeline, follow and verify know it too")
  }
}
