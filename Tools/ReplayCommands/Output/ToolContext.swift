internal import SessionExplain

/// Everything that a command uses in addition to its arguments.
struct ToolContext {
  /// The tool's version.
  static let version = "0.1.0"

  /// A variable of the environment that the tool reads.
  enum Variable: String, CaseIterable, Sendable {
    /// Milliseconds that `step` waits after Escape for the rest of a key.
    case escapeDelay = "ESCDELAY"
    /// Any value except the empty one disables colours.
    case noColor = "NO_COLOR"
    /// The type of the terminal.
    case terminal = "TERM"
    /// The folder of temporary files.
    case temporaryFolder = "TMPDIR"
  }

  /// The destination of the answer.
  let output: Output
  /// The destination of progress and notes.
  let errors: Output
  /// How `output` is coloured.
  let style: Style
  let environment: (String) -> String?
  /// Whether the command must end.
  let interruption: Interruption

  /// Returns the variable's value; `nil` if it is not set.
  func value(of variable: Variable) -> String? { environment(variable.rawValue) }
}
