internal import SessionExplain

/// Everything that a command uses and that is not an argument.
struct ToolContext {
  /// A variable of the environment that the tool reads.
  enum Variable: String, CaseIterable, Sendable {
    /// Milliseconds that `step` waits after Escape for the rest of a key.
    case escapeDelay = "ESCDELAY"
    /// Anything but nothing: no colours.
    case noColor = "NO_COLOR"
    /// What the terminal can do.
    case terminal = "TERM"
    /// The folder of temporary files.
    case temporaryFolder = "TMPDIR"
  }

  /// Where the answer goes.
  let output: Output
  /// Where progress and notes go.
  let errors: Output
  /// Whether `output` is coloured.
  let style: Style
  let environment: (String) -> String?
  /// The user's wish that it ends.
  let interruption: Interruption

  /// The variable's value; `nil` if it is not set.
  func value(of variable: Variable) -> String? { environment(variable.rawValue) }
}
