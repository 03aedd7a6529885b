extension CommandList {
  /// Commands that read records in their order, and what serves all commands.
  static let streams: [any Command.Type] = [
    TimelineCommand.self, StateCommand.self, VerifyCommand.self, DiffCommand.self,
    FollowCommand.self, CompletionCommand.self,
  ]
}
