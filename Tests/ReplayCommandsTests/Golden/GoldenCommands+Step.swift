extension GoldenCommands {
  static let step: [Line] = [
    ("help-step", ["step", "--help"]),
    ("step-no-terminal", ["step", "a.journal"]),
    ("step-no-terminal-missing", ["step", "none.journal"]),
    ("step-bad-selector", ["step", "a.journal", "--at", "soon"]),
    ("step-json", ["step", "a.journal", "--json"]),
  ]
}
