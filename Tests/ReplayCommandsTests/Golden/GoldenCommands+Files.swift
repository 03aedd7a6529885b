extension GoldenCommands {
  static let files: [Line] = [
    ("export", ["export", "a.journal"]),
    ("export-reveal", ["export", "a.journal", "--reveal"]),
    ("export-key", ["export", "a.journal", "--key-file", "key", "--until", "@2"]),
    ("export-since", ["export", "compacted.journal", "--reveal", "--since", "@20"]),
    ("export-damaged", ["export", "damaged.journal", "--reveal"]),
    ("repair", ["repair", "damaged.journal", "-o", "a.fixed"]),
    ("repair-dry", ["repair", "illegal.journal", "--dry-run"]),
    ("repair-json", ["repair", "torn.journal", "--dry-run", "--json"]),
    ("repair-good", ["repair", "a.journal", "--in-place"]),
    ("repair-newer", ["repair", "unknown.journal", "--dry-run"]),
    ("export-changes", ["export", "changes.log", "--reveal"]),
    ("repair-changes", ["repair", "changes-damaged.log", "-o", "changes.fixed"]),
    ("repair-changes-json", ["repair", "changes-torn.log", "--dry-run", "--json"]),
    ("repair-changes-odd", ["repair", "changes-odd.log", "--dry-run"]),
    ("repair-changes-newer", ["repair", "changes-newer.log", "--dry-run"]),
    ("repair-no-output", ["repair", "damaged.journal"]),
    ("import-no-export", ["import", "a.journal", "--dry-run"]),
    ("help-export", ["help", "export"]),
    ("help-import", ["help", "import"]),
    ("help-repair", ["help", "repair"]),
  ]
}
