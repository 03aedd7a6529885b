extension GoldenCommands {
  static let files: [Line] = []
}
