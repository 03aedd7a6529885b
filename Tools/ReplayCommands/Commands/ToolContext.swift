internal import SessionExplain

/// Everything that a command uses and that is not an argument.
struct ToolContext {
  /// Where the answer goes.
  let output: Output
  /// Where progress and notes go.
  let errors: Output
  /// Whether `output` is coloured.
  let style: Style
  let environment: (String) -> String?
  /// The user's wish that it ends.
  let interruption: Interruption
}
