extension CommandList {
  /// Commands that write files.
  static let files: [any Command.Type] = []
}
