internal import Foundation

extension Group {
  /// A program that finds a good token and goes, beside one that keeps its token in a JSON file.
  ///
  /// Both link FoundationNetworking, if the system has it apart from Foundation.
  static let launch = Group(name: "launch", summary: "a short program that needs a token") {
    stage in
    let folder = stage.path("launch")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let (ours, its) = (
      programs.appending(path: "launchsession").path, programs.appending(path: "launchfile").path
    )
    for program in [ours, its] { _ = try Spawned.run([program, folder, "login"]) }
    var pairs: [(ours: Spawned, its: Spawned)] = []
    for round in 0...stage.pick(5, 33) {
      let pair = (ours: try Spawned.run([ours, folder]), its: try Spawned.run([its, folder]))
      // The first runs fill the system's caches.
      if round > 0 { pairs.append(pair) }
    }
    let memory = try (0..<stage.pick(1, 5)).map { _ in
      let told = stage.path("launch.memory")
      return (
        try Spawned.memory(of: [ours, folder], told: told),
        try Spawned.memory(of: [its, folder], told: told)
      )
    }
    func figure(
      _ name: String, _ goal: Double, _ unit: String, _ values: [(ours: Double, its: Double)]
    ) -> Figure {
      Figure(
        name: "launch.\(name)", against: "JSON file", goal: .atMost(goal),
        ratio: Samples(values.map { $0.ours / $0.its }),
        value: Samples(values.map(\.ours)).median,
        againstValue: Samples(values.map(\.its)).median, unit: unit)
    }
    return Outcome(figures: [
      figure(
        "cpu", 1.1, "ms", pairs.map { ($0.ours.processor * 1e3, $0.its.processor * 1e3) }),
      figure("wall", 1.15, "ms", pairs.map { ($0.ours.seconds * 1e3, $0.its.seconds * 1e3) }),
      figure("memory", 1.25, "KiB", memory),
    ])
  }
}
