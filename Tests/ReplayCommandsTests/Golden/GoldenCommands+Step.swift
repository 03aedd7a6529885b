extension GoldenCommands {
  static let step: [Line] = [
    ("help-step", ["step", "--help"]),
    ("step-missing", ["step", "none.journal"]),
    ("step-bad-selector", ["step", "a.journal", "--at", "soon"]),
    ("step-json", ["step", "a.journal", "--json"]),
  ]
}
