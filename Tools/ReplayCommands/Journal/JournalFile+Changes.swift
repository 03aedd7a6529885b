@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

// A change log is a journal, but not a session's journal (`Specs/ChangeLog.md`).
extension JournalFile {
  /// Returns whether it is a change log, by the first readable record; a file without records is
  /// none.
  func isChangeLog() throws(ToolError) -> Bool {
    var isOne: Bool?
    var reader = try open()
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        isOne = ChangeCodec.owns(kind: frame.kind, payload: payload)
        return false
      }
      // The first record may be damaged. A later one also shows what kind of file it is.
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

  /// Rejects a change log if the command is about a session.
  func requireSession() throws(ToolError) {
    if try isChangeLog() { throw isNoSession }
  }

  /// Returns the files that are not change logs.
  ///
  /// If there are both, notes name the change logs. If all are change logs, it throws.
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
        // The command that reads the file reports what is wrong with it.
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
