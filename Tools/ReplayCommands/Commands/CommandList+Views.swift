extension CommandList {
  /// Commands that show sessions as pictures or figures.
  static let views: [any Command.Type] = [StepCommand.self, StatsCommand.self, ReportCommand.self]
}
