import Foundation
import SessionJournal
import Testing

/// The journals in `Specs/Frozen`, which are never written anew.
///
/// `FREEZE=1 swift test --filter FrozenTests` adds lines for files that the list does not have yet;
/// it changes none that it has.
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

  /// Size and checksum of the file: what may never change.
  private func content(_ name: String) throws -> String {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    var checksum = Checksum()
    checksum.extend(over: bytes)
    return "\(name) \(bytes.count) bytes \(String(checksum.value, radix: 16))"
  }

  /// What this version reads in it: the journal's view, then the session's.
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
    // The others have payloads that are no session's.
    if name.hasPrefix("changes") {
      let state = ToolRun.inProcess(["state", path(name)]).output
      let first = state.prefix { $0 != "\n" }.drop { $0 != " " }.drop { $0 == " " }
      return text + ", change log \(report["verdict"] ?? ""): \(first)"
    }
    guard name.hasPrefix("session") else { return text }
    return text + ", session \(report["verdict"] ?? "") and \(report["state"] ?? "")"
  }

  @Test("JRN-3 Every frozen journal is as it was, and reads as it did")
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
