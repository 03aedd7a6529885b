/// All commands, in the order of the help.
enum CommandList {
  /// The order of the help: commands that show, explain, check and repair, watch and count, convert.
  static let order = [
    "timeline", "state", "step", "diff", "why", "verify", "repair", "follow", "stats", "export",
    "import", "report", "completion",
  ]

  static let all: [any Command.Type] = {
    let unordered = streams + why + views + files
    return order.compactMap { name in unordered.first { $0.syntax.name == name } }
  }()
}
