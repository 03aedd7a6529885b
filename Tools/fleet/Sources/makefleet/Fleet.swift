internal import Foundation
internal import SessionJournal

/// Writes the journals of a fleet, and `truth.jsonl` beside them: what happened in each.
struct Fleet {
  private let options: FleetOptions

  init(_ options: FleetOptions) {
    self.options = options
  }

  func write() throws {
    guard !FileManager.default.fileExists(atPath: options.folder) else {
      throw FleetOptions.Problem(text: "\(options.folder) is there already; name a new folder.")
    }
    var draws = Draws(seed: options.seed)
    let users = max(1, options.journals * 8 / 10)
    let unlucky = Set(
      (0..<users).filter { _ in draws.happens(FleetPlan.unluckyUsers) })
    let journals = URL(filePath: options.folder).appending(path: "journals")
    for folder in 0..<min(64, options.journals) {
      try FileManager.default.createDirectory(
        at: journals.appending(path: Self.name(folder)), withIntermediateDirectories: true)
    }
    var truth = ""
    for number in 0..<options.journals {
      let path = journals.appending(path: Self.name(number % 64))
        .appending(path: "\(number).journal").path(percentEncoded: false)
      let isDamaged = draws.happens(FleetPlan.damage)
      // Each user has one install; those that are left over belong to users at random.
      let user = number < users ? number : Int.random(in: 0..<users, using: &draws)
      let lines = try install(
        number, user: user, at: path, seed: draws.next(), isUnlucky: unlucky.contains(user))
      if isDamaged { try damage(path, &draws) }
      for line in lines { truth += line + #","file":\#(number),"damaged":\#(isDamaged)}"# + "\n" }
    }
    try Data(truth.utf8).write(to: URL(filePath: options.folder).appending(path: "truth.jsonl"))
  }

  private static func name(_ folder: Int) -> String { String(folder + 100).dropFirst().description }

  private func install(
    _ number: Int, user: Int, at path: String, seed: UInt64, isUnlucky: Bool
  ) throws -> [String] {
    let journal = try Journal.open(at: path, options: JournalOptions(durability: .operatingSystem))
    var install = Install(user: user, journal: journal, seed: seed, isUnlucky: isUnlucky)
    try install.live()
    try journal.close()
    try FileManager.default.removeItem(atPath: path + ".lock")
    return install.truth.lines
  }

  /// Changes a byte in the middle half of a file.
  private func damage(_ path: String, _ draws: inout Draws) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    let place = Int.random(in: bytes.count / 4..<bytes.count * 3 / 4, using: &draws)
    bytes[place] ^= 0x20
    try bytes.write(to: URL(filePath: path))
  }
}
