extension GoldenCommands {
  static let why: [Line] = [
    ("why", ["why", "a.journal"]),
    ("why-json", ["why", "a.journal", "--json"]),
    ("why-color", ["why", "a.journal", "--color", "always"]),
    ("why-all", ["why", "a.journal", "--all", "--full"]),
    ("why-all-json", ["why", "a.journal", "--all", "--json"]),
    ("why-at", ["why", "a.journal", "--at", "@10"]),
    ("why-at-time", ["why", "a.journal", "--at", "2026-11-21T14:00:00Z"]),
    ("why-compacted", ["why", "compacted.journal", "--key-file", "key"]),
    ("why-torn", ["why", "torn.journal"]),
    ("why-damaged", ["why", "damaged.journal"]),
    ("why-illegal", ["why", "illegal.journal"]),
    ("why-unknown", ["why", "unknown.journal"]),
    ("why-changes", ["why", "changes-compacted.log"]),
    ("why-beyond", ["why", "a.journal", "--at", "@999"]),
    ("why-conflict", ["why", "a.journal", "--all", "--at", "@2"]),
    ("why-help", ["why", "--help"]),
  ]
}
