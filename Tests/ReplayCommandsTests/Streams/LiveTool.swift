import ChildProcesses
import Foundation
import SessionTestKit
import Testing

/// The program while it runs, with its outputs as they come.
final class LiveTool {
  private let process: ChildProcess
  private let output = Pipe()
  private let errors = Pipe()
  private var rest: [UInt8] = []

  init(_ arguments: [String]) throws {
    process = try ChildProcess(
      try ToolRun.binary(), arguments,
      environment: ToolRun.seeded.merging(["PATH": "/usr/bin:/bin"]) { $1 },
      output: .pipe(output), errors: .pipe(errors))
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
