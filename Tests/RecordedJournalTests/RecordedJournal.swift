import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
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

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Specs/Journals")

  /// Further journals of a cause, by their names.
  static let variants: [(name: String, cause: Cause)] = [
    ("killed-in-namespace", .killedInRefresh), ("ended-twice", .stillOffline),
  ]

  init(cause: Cause, arguments: [String]) { (name, self.arguments) = (cause.id, arguments) }

  /// The stored journal; the first line of its text contains the question.
  init(keptFor cause: Cause) throws { try self.init(named: cause.id) }

  /// The one with this name.
  init(named name: String) throws {
    let file = Self.folder.appending(path: "\(name).txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first).split(separator: " ")
    (self.name, arguments) = (name, line.dropFirst(4).map(String.init))
  }

  func file(_ suffix: String) -> URL { Self.folder.appending(path: "\(name).\(suffix)") }

  /// The stored answers: as people read it, and as JSON.
  func kept() throws -> (text: String, json: String) {
    let parts = try String(contentsOf: file("txt"), encoding: .utf8).components(
      separatedBy: Self.separator)
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

/// The part of an answer that is the same in each run of its story: no times, no process numbers.
struct AnswerShape: Equatable {
  let cause: String
  let certainty: String
  let chain: [String]
  let findings: [String]
  let rest: [String]

  init(_ json: String) throws {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    cause = try #require(object["cause"] as? String)
    certainty = try #require(object["certainty"] as? String)
    func list(_ name: String) throws -> [[String: Any]] {
      try #require(object[name] as? [[String: Any]])
    }
    chain = try list("chain").map { "\($0["sequence"] ?? 0) \($0["name"] ?? "")" }
    findings = try ["proven", "inferred", "ruledOut", "alsoSeen"].flatMap { name in
      try list(name).map { "\(name) \($0["what"] ?? "") \($0["certainty"] ?? "")" }
    }
    rest = try ["untold", "advice"].flatMap { name in
      try list(name).map { "\(name) \($0["what"] ?? "")" }
    }
  }
}

/// How the journal of a cause is made: a real session with a real server, on real files.
struct JournalStory: Sendable, CustomTestStringConvertible {
  let cause: Cause
  /// What was done, for the page.
  let title: String
  /// The selected record: the last one of this name; `nil` for the last end.
  var asks: String?
  let tell: @Sendable (StoryStage) async throws -> Void

  init(
    _ cause: Cause, _ title: String, asks: String? = nil,
    _ tell: @escaping @Sendable (StoryStage) async throws -> Void
  ) {
    self.cause = cause
    self.title = title
    self.asks = asks
    self.tell = tell
  }

  var testDescription: String { cause.id }

  static let all = refusals + exhaustions + storage + still + records
}
