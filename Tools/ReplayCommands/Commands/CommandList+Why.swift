extension CommandList {
  /// The command that explains ends of sessions.
  static let why: [any Command.Type] = [WhyCommand.self]
}
