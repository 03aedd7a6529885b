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
    ("stats-by-cause", ["stats", ".", "--by", "cause"]),
    ("help-stats", ["stats", "--help"]),
    ("help-report", ["report", "--help"]),
    ("report-no-output", ["report", "a.journal"]),
    ("report-conflict", ["report", "a.journal", "-o", "x.html", "--reveal", "--key", "k"]),
    ("report-exists", ["report", "a.journal", "-o", "damaged.journal"]),
    ("report-same-file", ["report", "a.journal", "-o", "a.journal", "--force"]),
    ("report-missing", ["report", "none.journal", "-o", "x.html", "--json"]),
  ]
}
