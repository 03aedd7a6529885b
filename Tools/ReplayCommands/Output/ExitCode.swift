/// The exit codes of the tool (`Specs/ReplayTool.md`).
public enum ExitCode: Int32, CaseIterable, Sendable {
  /// The command did what was asked.
  case ok = 0
  /// Something unexpected happened.
  case unexpected = 1
  /// The journal is good except for a tail of an unfinished commit: torn, or undetermined.
  case tail = 2
  /// The question was valid, and its answer is no.
  case answerIsNo = 3
  /// The command line is wrong.
  case usage = 64
  /// The file is damaged, or not a journal.
  case damaged = 65
  /// There is no such file.
  case missing = 66
  /// A file cannot be created, exists already, or is the file that is read.
  case cannotCreate = 73
  /// The system refused to read or write.
  case inputOutput = 74
  /// Another process holds a lock.
  case busy = 75
  /// Ctrl-C ended the command.
  case interrupted = 130
  /// Another signal asked the tool to end.
  case terminated = 143

  /// Returns the worse of two codes, for a command about several files.
  ///
  /// From the worst: the system's refusal, a missing file, damage, a tail.
  static func worse(_ left: ExitCode, _ right: ExitCode) -> ExitCode {
    let order: [ExitCode] = [.inputOutput, .missing, .damaged, .tail, .ok]
    return order.first { $0 == left || $0 == right } ?? left
  }

  /// Its description for the help.
  var meaning: String {
    switch self {
    case .ok: "done"
    case .unexpected: "something that should not happen did"
    case .tail: "good but for a tail that a writer left: torn, or undetermined"
    case .answerIsNo: "the question was understood and its answer is no"
    case .usage: "the command line is wrong"
    case .damaged: "the file is damaged, or not a journal that this version can read"
    case .missing: "there is no such file"
    case .cannotCreate: "a file cannot be made, is there already, or is the one that is read"
    case .inputOutput: "the system refused to read or write"
    case .busy: "another process holds a lock"
    case .interrupted: "interrupted by Ctrl-C"
    case .terminated: "ended by another signal"
    }
  }

  /// Its name in machine-readable errors.
  var name: String {
    switch self {
    case .ok: "ok"
    case .unexpected: "unexpected"
    case .tail: "tail"
    case .answerIsNo: "answerIsNo"
    case .usage: "usage"
    case .damaged: "damaged"
    case .missing: "missing"
    case .cannotCreate: "cannotCreate"
    case .inputOutput: "inputOutput"
    case .busy: "busy"
    case .interrupted: "interrupted"
    case .terminated: "terminated"
    }
  }
}
