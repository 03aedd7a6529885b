extension GoldenCommands {
  static let views: [Line] = [
    ("stats", ["stats", "a.journal"]),
    ("stats-json", ["stats", "a.journal", "--json"]),
    ("stats-color", ["stats", ".", "--color", "always"]),
    ("stats-folder", ["stats", "."]),
    ("stats-by-day", ["stats", "a.journal", "--by", "day"]),
    ("stats-by-reason", ["stats", ".", "--by", "reason"]),
    ("stats-by-method-json", ["stats", "a.journal", "--by", "method", "--json"]),
    ("stats-damaged", ["stats", "damaged.journal"]),
    ("stats-missing", ["stats", "none.journal"]),
    ("stats-bad-by", ["stats", "a.journal", "--by", "rason"]),
    ("help-stats", ["stats", "--help"]),
  ]
}
