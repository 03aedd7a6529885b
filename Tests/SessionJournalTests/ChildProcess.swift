import Foundation

/// A program run to its end.
struct ChildProcess {
  let output: String
  let status: Int32

  static var specs: String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Specs").path
  }

  /// `quiet`: what it says on its error stream is expected and not shown.
  static func python(_ arguments: [String], quiet: Bool = false) throws -> ChildProcess {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B"] + arguments
    process.environment = ProcessInfo.processInfo.environment
      .merging(["PYTHONPATH": specs]) { _, new in new }
    let pipe = Pipe()
    process.standardOutput = pipe
    if quiet { process.standardError = FileHandle.nullDevice }
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return ChildProcess(
      output: String(decoding: output, as: UTF8.self), status: process.terminationStatus)
  }
}
