/// Colours, or none.
struct Style: Equatable, Sendable {
  let isColored: Bool

  /// When colours are used.
  enum Choice: String, CaseIterable, Sendable {
    case auto = "auto"
    case always = "always"
    case never = "never"
  }

  init(isColored: Bool) {
    self.isColored = isColored
  }

  /// `NO_COLOR` (no-color.org) and a dumb terminal speak against colours, `always` overrules them.
  init(_ choice: Choice, isTerminal: Bool, environment: (String) -> String?) {
    isColored =
      switch choice {
      case .always: true
      case .never: false
      case .auto:
        isTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
      }
  }

  func dim(_ text: String) -> String { wrap(text, "2") }
  func bold(_ text: String) -> String { wrap(text, "1") }
  func red(_ text: String) -> String { wrap(text, "31") }
  func green(_ text: String) -> String { wrap(text, "32") }
  func yellow(_ text: String) -> String { wrap(text, "33") }

  private func wrap(_ text: String, _ code: String) -> String {
    isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
