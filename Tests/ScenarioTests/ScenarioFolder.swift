import Foundation
import SessionTestSupport
import Testing

/// The files of `Specs/Scenarios`, and parts of them for tests to change.
struct ScenarioFolder {
  /// A scenario file with a name that contains the requirements it proves.
  struct File: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String

    /// `edu-day (LOG-4 REF-1)`.
    var testDescription: String {
      let proves = text.split(separator: "\n").first { $0.hasPrefix("proves ") }
      return "\(name) (\(proves?.dropFirst(7) ?? "nothing"))"
    }

    func scenario() throws(ScenarioErrors) -> Scenario {
      try Scenario(text, file: "Specs/Scenarios/\(name).scenario")
    }
  }

  static let path =
    URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path + "/Specs/Scenarios"

  /// All files, in the order of their names; none if the folder cannot be read.
  static let files: [File] = {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        .filter { $0.hasSuffix(".scenario") }
        .map { name in
          File(
            name: String(name.dropLast(".scenario".count)),
            text: try String(contentsOfFile: path + "/" + name, encoding: .utf8))
        }
    } catch {
      return []
    }
  }()
}
