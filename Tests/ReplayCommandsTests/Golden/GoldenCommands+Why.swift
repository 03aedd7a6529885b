extension GoldenCommands {
  static let why: [Line] = []
}
