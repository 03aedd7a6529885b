extension GoldenCommands {
  static let views: [Line] = []
}
