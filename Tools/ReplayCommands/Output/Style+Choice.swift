internal import SessionExplain

extension Style {
  /// When the output uses colours.
  enum Choice: String, CaseIterable, Sendable {
    case auto = "auto"
    case always = "always"
    case never = "never"
  }

  /// Decides about colours: `NO_COLOR` (no-color.org) and a dumb terminal disable them; `always`
  /// overrules both.
  init(_ choice: Choice, isTerminal: Bool, environment: (String) -> String?) {
    func value(_ variable: ToolContext.Variable) -> String? { environment(variable.rawValue) }
    let isColored =
      switch choice {
      case .always: true
      case .never: false
      case .auto:
        isTerminal && (value(.noColor) ?? "").isEmpty && value(.terminal) != "dumb"
      }
    self.init(isColored: isColored)
  }
}
