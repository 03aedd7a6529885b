import ChildProcesses
import Foundation
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

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
  { try run(try binary(), arguments, environment) }

  /// Runs a shell command in which `$0` is the program and `$1`… are `arguments`.
  static func shell(_ line: String, _ arguments: [String] = [], environment: [String: String] = [:])
    throws -> ToolRun
  { try run("/bin/sh", ["-c", line, try binary()] + arguments, environment) }

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
      code: code, output: String(decoding: try folder.bytes("out"), as: UTF8.self),
      errors: String(decoding: try folder.bytes("err"), as: UTF8.self))
  }

  /// The program, which is built beside the tests.
  static func binary() throws -> String {
    var folders = [URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
    folders.append(Bundle.main.bundleURL)
    folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    let found = folders.map {
      $0.absoluteURL.appending(path: "sessionreplay").path(percentEncoded: false)
    }.first { FileManager.default.isExecutableFile(atPath: $0) }
    return try #require(found, "sessionreplay is not built beside the tests")
  }

  /// The lines of the output, each read as a JSON object.
  func objects() throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  /// The object within the error that is written with `--json`.
  func error() throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(errors.utf8)) as? [String: Any]
    return try #require(object?["error"] as? [String: Any])
  }
}

/// Files of the repository.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}

/// What a user sees of a command that runs in this process.
struct CommandAnswer: Equatable {
  private(set) var output = ""
  private(set) var error = ""
  private(set) var code: Int32 = 0

  /// Runs a command with plain text and without an environment.
  init(_ run: (ToolContext) throws(ToolError) -> ExitCode) {
    let (output, errors) = (CollectedOutput(), CollectedOutput())
    let context = ToolContext(
      output: Output(output, interruption: Interruption()),
      errors: Output(errors, interruption: Interruption()), style: Style(isColored: false),
      environment: { _ in nil }, interruption: Interruption())
    do throws(ToolError) { code = try run(context).rawValue } catch {
      (code, self.error) = (error.code.rawValue, error.text)
    }
    context.output.flush()
    self.output = output.text
  }
}

/// The program while it runs, with its outputs as they come.
final class LiveTool {
  private let process: ChildProcess
  private let output = Pipe()
  private let errors = Pipe()
  private var rest: [UInt8] = []

  init(_ arguments: [String]) throws {
    process = try ChildProcess(
      try ToolRun.binary(), arguments,
      environment: ToolRun.seeded.merging(["PATH": "/usr/bin:/bin"]) { $1 }, output: .pipe(output),
      errors: .pipe(errors))
  }

  /// The next line, waited for; `nil` at the end of the output.
  func line() throws -> String? {
    while true {
      if let feed = rest.firstIndex(of: 0x0A) {
        defer { rest.removeSubrange(...feed) }
        return String(decoding: rest[..<feed], as: UTF8.self)
      }
      let more = try output.fileHandleForReading.nextBytes()
      guard !more.isEmpty else { return nil }
      rest += more
    }
  }

  /// The sequence of the next line of JSON.
  func sequence() throws -> Int? {
    guard let line = try line() else { return nil }
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    return object?["sequence"] as? Int
  }

  /// Asks the program to end, without reading what it prints.
  func signal(_ number: Int32) { process.send(number) }

  /// Its exit code, or 128 and the signal that ended it.
  func code() -> Int32? { process.waitUntilExit().code }

  func complaints() throws -> String {
    String(decoding: try errors.fileHandleForReading.remainingBytes(), as: UTF8.self)
  }
}
