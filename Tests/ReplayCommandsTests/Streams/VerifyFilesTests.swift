import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@Suite("RPL-2 verify with several files and with files that are being written")
struct VerifyFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func files(_ names: [String]) -> [String] { names.map { folder.file($0) } }

  @Test("RPL-5 with several files the exit code is the worst one")
  func worst() throws {
    let cases: [(names: [String], code: Int32)] = [
      (["a.journal", "room.journal"], 0),
      (["a.journal", "torn.journal"], 2),
      (["undetermined.journal", "a.journal", "damaged.journal"], 65),
      (["illegal.journal", "none", "torn.journal"], 66),
    ]
    for (names, code) in cases {
      let run = ToolRun.inProcess(["verify"] + files(names))
      #expect(run.code == code, "\(names)")
      let bad = names.filter { !["none", "a.journal", "room.journal"].contains($0) }
      #expect(run.output.components(separatedBy: " is ").count - 1 >= bad.count)
      let last = try #require(run.output.split(separator: "\n").last)
      let good = names.count - bad.count - (names.contains("none") ? 1 : 0)
      #expect(last.hasPrefix("\(names.count) journals: \(good) good"))
      let json = ToolRun.inProcess(["verify", "--json"] + files(names))
      #expect(json.code == code)
      #expect(
        try json.objects().compactMap { $0["file"] as? String }
          == files(names.filter { $0 != "none" }))
      let quiet = ToolRun.inProcess(["verify", "--quiet"] + files(names))
      #expect(quiet.code == code)
      #expect(quiet.output.isEmpty)
      // A file that could not be read is named.
      #expect(quiet.errors.isEmpty == !names.contains("none"), "\(quiet.errors)")
    }
    let alone = ToolRun.inProcess(["verify", "--quiet", folder.file("damaged.journal")])
    #expect(alone.code == 65)
    #expect(alone.errors.isEmpty)
  }

  @Test("RPL-2 a folder means the journals in it")
  func folders() throws {
    let run = ToolRun.inProcess(["verify", "--json", folder.path])
    #expect(run.code == 65)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".journal") }.sorted()
    #expect(try run.objects().compactMap { $0["file"] as? String } == files(names))
    let empty = try TemporaryFolder()
    let none = ToolRun.inProcess(["verify", empty.path])
    #expect(none.code == 66)
    #expect(none.errors.contains("holds no journal"))
  }

  @Test("JRN-1 RPL-2 verify ignores bytes appended later, and an unfinished commit is not a fault")
  func frozen() throws {
    let whole = try folder.bytes("open.journal")
    let frames = try Journals.frames(whole)
    let ends = [64] + frames.filter(\.isLastOfBatch).map(\.end)
    let path = folder.file("growing.journal")
    // Frozen anywhere, then grown to its end: clean, and read to the last batch that was whole.
    for length in stride(from: 64, through: whole.count, by: 7) {
      _ = try folder.write(Array(whole[..<length]), to: "growing.journal")
      var reader = try JournalReader(path: path, isFrozen: true)
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try handle.seekToEnd()
      try handle.write(contentsOf: whole[length...])
      try handle.close()
      let ending = try reader.frozenEnding()
      let grows = try reader.isGrowing(after: ending)
      #expect(ending == .clean, "\(length)")
      #expect(reader.totals.bytes == UInt64(ends.last { $0 <= length } ?? 0), "\(length)")
      #expect(reader.frozenEnd == UInt64(length))
      #expect(grows == (length < whole.count), "\(length)")
    }
    // Frozen in the middle of a commit, and no writer continues: torn.
    let torn = try folder.write(Array(whole.dropLast(3)), to: "growing.journal")
    var reader = try JournalReader(path: torn, isFrozen: true)
    let ending = try reader.frozenEnding()
    if case .torn = ending {} else { Issue.record("\(ending)") }
    let grows = try reader.isGrowing(after: ending)
    #expect(!grows)
  }

  @Test("JRN-1 verify recognizes a writer that fills its reserved room")
  func room() throws {
    let whole = try folder.bytes("open.journal")
    let frames = try Journals.frames(whole)
    let cut = try #require(frames.dropLast(3).last { $0.isLastOfBatch }).end
    let zeros = [UInt8](repeating: 0, count: whole.count - cut)
    let path = try folder.write(Array(whole[..<cut]) + zeros, to: "room2.journal")
    var reader = try JournalReader(path: path, isFrozen: true)
    let ending = try reader.frozenEnding()
    #expect(ending == .clean)
    let before = try reader.isGrowing(after: ending)
    #expect(!before)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(cut))
    try handle.write(contentsOf: whole[cut...])
    try handle.close()
    let after = try reader.isGrowing(after: ending)
    #expect(after)
  }
}
