/// Every command, in the order of the help.
enum CommandList {
  /// The order: what tells, what explains, what checks and mends, what carries elsewhere.
  static let order = [
    "timeline", "state", "step", "diff", "why", "verify", "repair", "follow", "stats", "export",
    "import", "report", "completion",
  ]

  static let all: [any Command.Type] = {
    let unordered = streams + why + views + files
    return order.compactMap { name in unordered.first { $0.syntax.name == name } }
  }()
}
