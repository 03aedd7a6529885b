import ChildProcesses
import Foundation
import ReplayCommands
import Testing

/// The output and exit code of a run of the tool.
struct ToolRun {
  var code: Int32
  var output: String
  var errors: String

  /// The environment that activates the seeded bug of this process in a program too.
  static let seeded = ProcessInfo.processInfo.environment.filter { $0.key == "MUTANT" }

  /// Whether a signal ended the program.
  struct Killed: Error {
    let arguments: [String]
    let status: ChildProcess.Status
  }

  /// Runs the tool in this process.
  static func inProcess(
    _ arguments: [String], environment: [String: String] = [:], isTerminal: Bool = false
  ) -> ToolRun {
    let output = CollectedOutput(isTerminal: isTerminal)
    let errors = CollectedOutput(isTerminal: isTerminal)
    let code = ReplayTool.run(
      arguments: arguments, environment: { environment[$0] }, output: output, errors: errors)
    return ToolRun(code: code, output: output.text, errors: errors.text)
  }

  /// Runs the program that a user runs.
  static func program(_ arguments: [String], environment: [String: String] = [:]) throws -> ToolRun
  {
    try run(try binary(), arguments, environment)
  }

  /// Runs a shell command in which `$0` is the program and `$1`… are `arguments`.
  static func shell(_ line: String, _ arguments: [String] = [], environment: [String: String] = [:])
    throws -> ToolRun
  {
    try run("/bin/sh", ["-c", line, try binary()] + arguments, environment)
  }

  static func run(
    _ executable: String, _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> ToolRun {
    let folder = try TemporaryFolder()
    for name in ["out", "err"] { _ = try folder.write([], to: name) }
    // Files and not pipes: they need no reader while the program runs.
    let (output, errors) = (
      try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out"))),
      try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
    )
    let process = try ChildProcess(
      executable, arguments,
      environment: seeded.merging(["PATH": "/usr/bin:/bin"]) { $1 }.merging(environment) { $1 },
      output: .file(output), errors: .file(errors))
    guard case .exited(let code) = process.waitUntilExit() else {
      throw Killed(arguments: arguments, status: process.status)
    }
    return ToolRun(
      code: code,
      output: String(decoding: try folder.bytes("out"), as: UTF8.self),
      errors: String(decoding: try folder.bytes("err"), as: UTF8.self))
  }

  /// The program, which is built beside the tests.
  static func binary() throws -> String {
    var folders = [URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
    folders.append(Bundle.main.bundleURL)
    folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    let found = folders.map {
      $0.absoluteURL.appending(path: "sessionreplay").path(percentEncoded: false)
    }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
    return try #require(found, "sessionreplay is not built beside the tests")
  }

  /// The lines of the output, each read as a JSON object.
  func objects() throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  /// The object within the error that is written with `--json`.
  func error() throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(errors.utf8)) as? [String: Any]
    return try #require(object?["error"] as? [String: Any])
  }
}
