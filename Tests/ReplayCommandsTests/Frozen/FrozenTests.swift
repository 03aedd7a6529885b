import Foundation
import SessionJournal
import Testing

/// The journals in `Specs/Frozen`, which no later version may change.
///
/// `FREEZE=1 swift test --filter FrozenTests` adds a line for each file that the list lacks. It changes no
/// line.
@Suite("Specs/Frozen")
struct FrozenTests {
  static let folder = "Specs/Frozen/format-1"
  static let list = folder + "/journals.txt"

  private func lines() throws -> [String] {
    try Repository.text(Self.list).split(separator: "\n").map(String.init)
  }

  private func names() throws -> [String] {
    let folder = Repository.root.appending(path: Self.folder).path(percentEncoded: false)
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".journal") }.sorted()
  }

  private func path(_ name: String) -> String {
    Repository.root.appending(path: "\(Self.folder)/\(name)").path(percentEncoded: false)
  }

  /// The file's size and checksum.
  private func content(_ name: String) throws -> String {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    var checksum = Checksum()
    checksum.extend(over: bytes)
    return "\(name) \(bytes.count) bytes \(String(checksum.value, radix: 16))"
  }

  /// What this version reads from it: a journal, then a session.
  private func reading(_ name: String) throws -> String {
    let run = ToolRun.inProcess(["verify", path(name), "--json"])
    guard let report = try run.objects().first else {
      return try run.error()["name"] as? String ?? "no error"
    }
    var reader = try JournalReader(path: path(name))
    let ending = try reader.ending()
    let word =
      switch ending {
      case .clean: "clean with room \(reader.room)"
      case .torn(let tail): "torn at \(tail.offset) \(tail.flaw.rawValue)"
      case .undetermined(let tail): "undetermined at \(tail.offset) \(tail.flaw.rawValue)"
      case .damaged(let damage): "damaged at \(damage.offset) \(damage.flaw.rawValue)"
      }
    let totals = reader.totals
    let readable = try reader.survey().runs.reduce(0) { $0 + $1.records }
    let text =
      "\(word), records \(totals.records), last \(totals.lastSequence), readable behind \(readable)"
    // The other files do not contain payloads of a session.
    if name.hasPrefix("changes") {
      let state = ToolRun.inProcess(["state", path(name)]).output
      let first = state.prefix { $0 != "\n" }.drop { $0 != " " }.drop { $0 == " " }
      return text + ", change log \(report["verdict"] ?? ""): \(first)"
    }
    guard name.hasPrefix("session") else { return text }
    return text + ", session \(report["verdict"] ?? "") and \(report["state"] ?? "")"
  }

  @Test("JRN-3 each frozen journal keeps its bytes and is read as before")
  func frozen() throws {
    if ProcessInfo.processInfo.environment["FREEZE"] != nil { try freeze() }
    let lines = try lines()
    #expect(lines.map { $0.split(separator: " ").first.map(String.init) } == (try names()))
    #expect(lines.count >= 19)
    for line in lines {
      let name = String(line.prefix { $0 != " " })
      #expect(line == "\(try content(name)): \(try reading(name))")
    }
  }

  private func freeze() throws {
    let isThere = FileManager.default.fileExists(
      atPath: Repository.root.appending(path: Self.list).path(percentEncoded: false))
    let old = isThere ? try lines() : []
    let known = Set(old.map { String($0.prefix { $0 != " " }) })
    let new = try names().filter { !known.contains($0) }
      .map { "\(try content($0)): \(try reading($0))" }
    let text = (old + new).sorted().map { $0 + "\n" }.joined()
    try text.write(
      to: Repository.root.appending(path: Self.list), atomically: true, encoding: .utf8)
  }
}
