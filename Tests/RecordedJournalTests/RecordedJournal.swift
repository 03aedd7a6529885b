import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// A journal of `Specs/Journals`, the questions about it, and the answers stored next to it.
struct RecordedJournal {
  /// The name of its files: the cause, or the name of a variant.
  let name: String
  let arguments: [String]

  static let isRecording = ProcessInfo.processInfo.environment["RECORD_JOURNALS"] != nil
  static let isUpdating = isRecording || ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil

  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Specs/Journals")

  /// Further journals of a cause, by their names.
  static let variants: [(name: String, cause: Cause)] = [
    ("killed-in-namespace", .killedInRefresh), ("ended-twice", .stillOffline),
  ]

  init(cause: Cause, arguments: [String]) {
    (name, self.arguments) = (cause.id, arguments)
  }

  /// The stored journal; the first line of its text contains the question.
  init(keptFor cause: Cause) throws { try self.init(named: cause.id) }

  /// The one with this name.
  init(named name: String) throws {
    let file = Self.folder.appending(path: "\(name).txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first).split(separator: " ")
    (self.name, arguments) = (name, line.dropFirst(4).map(String.init))
  }

  func file(_ suffix: String) -> URL {
    Self.folder.appending(path: "\(name).\(suffix)")
  }

  /// The stored answers: as people read it, and as JSON.
  func kept() throws -> (text: String, json: String) {
    let parts = try String(contentsOf: file("txt"), encoding: .utf8)
      .components(separatedBy: Self.separator)
    return (parts[0], parts.count > 1 ? parts[1] : "")
  }

  /// The line between the two answers.
  static let separator = "--- json\n"

  /// Stores a journal with its answers.
  func write(_ journal: Data) throws {
    try journal.write(to: file("journal"))
    let (text, json) = answers()
    try write(text, json)
  }

  func write(_ text: String, _ json: String) throws {
    try Data((text + Self.separator + json).utf8).write(to: file("txt"))
  }

  /// The tool's answers about it.
  func answers() -> (text: String, json: String) {
    let run = Self.run([file("journal").path] + arguments)
    let words = ["why", "\(name).journal"] + arguments
    let head = "$ sessionreplay \(words.joined(separator: " "))\n"
    let json = Self.run([file("journal").path] + arguments + ["--json"])
    return (head + run.output + "--- exit \(run.code)\n", json.output)
  }

  static func run(_ arguments: [String]) -> (code: Int32, output: String) {
    let (output, errors) = (CollectedOutput(), CollectedOutput())
    let code = ReplayTool.run(
      arguments: ["why"] + arguments, environment: { _ in nil }, output: output, errors: errors)
    return (code, output.text)
  }
}
