extension CommandList {
  /// Commands that show sessions as pictures and figures.
  static let views: [any Command.Type] = [StepCommand.self, StatsCommand.self, ReportCommand.self]
}
