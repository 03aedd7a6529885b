extension CommandList {
  /// The command that explains.
  static let why: [any Command.Type] = [WhyCommand.self]
}
