extension CommandList {
  /// Commands that write files.
  static let files: [any Command.Type] = [
    RepairCommand.self, ExportCommand.self, ImportCommand.self,
  ]
}
