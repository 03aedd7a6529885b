/// All commands, in the order of the help.
enum CommandList {
  /// Commands that show, explain, check and repair, watch and count, convert.
  static let all: [any Command.Type] = [
    TimelineCommand.self, StateCommand.self, StepCommand.self, DiffCommand.self, WhyCommand.self,
    WhatIfCommand.self, VerifyCommand.self, RepairCommand.self, FollowCommand.self,
    StatsCommand.self, EndsCommand.self, RefreshesCommand.self, ReplayCorpusCommand.self,
    ExportCommand.self, ImportCommand.self, ReportCommand.self,
  ]

  /// Their names.
  static var order: [String] { all.map { $0.name } }

  /// Returns the command with this name; `nil` if there is none.
  static func command(named name: String) -> (any Command.Type)? { all.first { $0.name == name } }
}
