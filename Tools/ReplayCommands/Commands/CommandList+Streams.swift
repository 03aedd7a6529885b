extension CommandList {
  /// Commands that read records in order, and `completion`, which serves all commands.
  static let streams: [any Command.Type] = [
    TimelineCommand.self, StateCommand.self, VerifyCommand.self, DiffCommand.self,
    FollowCommand.self, CompletionCommand.self,
  ]
}
