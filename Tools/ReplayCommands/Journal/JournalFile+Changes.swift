internal import SessionCore
internal import SessionJournal

// A change log is a journal, and no session's (`Specs/ChangeLog.md`).
extension JournalFile {
  /// Whether it is a change log, by its first record; of a file without one nobody knows, and it is none.
  func isChangeLog() throws(ToolError) -> Bool {
    var isOne = false
    _ = try visitPayloads { (frame, payload) throws(CodecError) in
      isOne = ChangeCodec.owns(kind: frame.kind, payload: payload)
      return false
    }
    return isOne
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
      "changeLog", "\(name) is a change log: what waits to be sent, and no session.",
      next: isStandardInput
        ? "sessionreplay state -, on the same input"
        : "sessionreplay state \(name); timeline, follow and verify know it too")
  }
}
