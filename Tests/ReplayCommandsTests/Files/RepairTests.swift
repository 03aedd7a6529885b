import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("Repair")
struct RepairTests {
  /// The journals whose bits are flipped: one with reserved room, and one that is compacted.
  private static func sources() throws -> [[UInt8]] {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let small: [SampleJournal.Batch] = Array(SampleJournal.batches.prefix(4))
    try SampleJournal.write(to: folder.file("small.journal"), batches: small)
    try Journals.writeCompacted(to: folder.file("short.journal"), keepingFrom: 22)
    var small2 = try folder.bytes("small.journal")
    small2 += [UInt8](repeating: 0, count: 96)
    return [small2, try folder.bytes("short.journal")]
  }

  @Test("RPL-2 after any flipped bit, the prefix that repair keeps is a good journal")
  func everyBit() throws {
    var (kept, whole, refused) = (0, 0, 0)
    for source in try Self.sources() {
      for bit in 0..<(source.count * 8) {
        var bytes = source
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        var reader: JournalReader
        do { reader = try JournalReader(bytes: bytes) } catch {
          #expect(bit < 64 * 8, "bit \(bit): \(error)")
          refused += 1
          continue
        }
        let finding = try RepairFinding(&reader)
        #expect(finding.end <= finding.size && finding.size == UInt64(bytes.count))
        guard finding.fault != nil else {
          whole += 1
          continue
        }
        guard !finding.lacksSnapshot else {
          refused += 1
          continue
        }
        var again = try JournalReader(bytes: Array(bytes[..<Int(finding.end)]))
        let verdict = try RepairFinding(&again)
        let isGood =
          verdict.fault == nil && verdict.end == finding.end && verdict.fold == finding.fold
          && verdict.records == finding.records
        #expect(isGood, "bit \(bit)")
        // Nothing before the batch of the flipped byte is dropped.
        let flipped = UInt64(bit / 8)
        #expect(finding.end <= flipped && finding.end >= 64, "bit \(bit)")
        kept += 1
      }
    }
    #expect(kept > 4_000)
    // Every bit is covered by a checksum.
    #expect(whole == 0 && refused > 0)
  }

  @Test("RPL-2 repair keeps every batch before the flipped bit")
  func nothingTooMuch() throws {
    for source in try Self.sources() {
      let frames = try Journals.frames(source)
      for bit in stride(from: 64 * 8 + 3, to: (frames.last?.end ?? 0) * 8, by: 37) {
        var bytes = source
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        var reader = try JournalReader(bytes: bytes)
        let finding = try RepairFinding(&reader)
        guard finding.fault != nil, !finding.lacksSnapshot else { continue }
        let before = frames.last { $0.isLastOfBatch && $0.end <= bit / 8 }
        #expect(finding.end >= UInt64(before?.end ?? 64), "bit \(bit)")
      }
    }
  }

  /// The part of a repaired journal that comes from the old one: all except the repair record.
  private static func copied(_ bytes: [UInt8]) throws -> [UInt8] {
    var end = bytes.count
    var reader = try JournalReader(bytes: bytes)
    try reader.visit { frame, _ in
      if frame.kind == SessionNote.Kind.tailCut.rawValue, frame.offset + UInt64(frame.size) == end {
        end = Int(frame.offset)
      }
      return true
    }
    return Array(bytes[..<end])
  }

  @Test("RPL-6 a repaired journal records that the dropped bytes may have been acknowledged")
  func mark() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for name in ["undetermined", "damaged", "undecodable", "illegal"] {
      let run = ToolRun.inProcess([
        "repair", folder.file(name + ".journal"), "-o", folder.file(name),
      ])
      #expect(run.output.contains("what is dropped may have been acknowledged"))
      let last = try #require(
        try ToolRun.inProcess(["timeline", folder.file(name), "-n", "1", "--json"]).objects().first)
      #expect(last["name"] as? String == "tailCut")
      let facts = try #require(last["facts"] as? [String: Any])
      #expect(facts["isUndetermined"] as? Bool == true)
      #expect(facts["bytes"] as? Int == (try folder.bytes(name + ".dropped").count))
      // The record's time comes from the journal, not from the computer that repairs it.
      let times = try ToolRun.inProcess(["timeline", folder.file(name + ".journal"), "--json"])
        .objects().compactMap { $0["time"] as? String }
      #expect(times.contains(last["time"] as? String ?? ""), "\(name)")
      let sequence = try #require(last["sequence"] as? Int)
      let why = ToolRun.inProcess(["why", folder.file(name), "--at", "@\(sequence)"]).output
      #expect(why.contains("were left out, and may have been acknowledged"), "\(why)")
      #expect(why.contains("or in the OUT.dropped of sessionreplay repair"), "\(why)")
    }
    let help = ToolRun.inProcess(["repair", "--help"]).output
    #expect(help.contains("both together are the file, but for"), "\(help)")
    // A torn tail was never acknowledged, so its removal adds no record.
    _ = ToolRun.inProcess(["repair", folder.file("torn.journal"), "-o", folder.file("torn")])
    let torn = try folder.bytes("torn.journal")
    #expect(try torn.starts(with: folder.bytes("torn")))
    // A change log has no such record, and must not contain one.
    _ = ToolRun.inProcess([
      "repair", folder.file("changes-damaged.log"), "-o", folder.file("changes"),
    ])
    #expect(ToolRun.inProcess(["verify", folder.file("changes")]).code == 0)
  }

  @Test("RPL-2 the good prefix and the dropped bytes go to two files, and the journal stays")
  func files() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for name in ["torn", "undetermined", "damaged", "undecodable", "illegal"] {
      let path = folder.file(name + ".journal")
      let before = try folder.bytes(name + ".journal")
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
      let dry = ToolRun.inProcess(["repair", path, "--dry-run"])
      #expect(dry.code == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == names)
      let run = ToolRun.inProcess(["repair", path, "-o", folder.file(name), "--json"])
      #expect(run.code == 0, "\(run.errors)")
      let report = try #require(try run.objects().first)
      #expect(report["verdict"] as? String == name)
      let isWhole =
        try Self.copied(try folder.bytes(name)) + folder.bytes(name + ".dropped") == before
      #expect(isWhole, "\(name)")
      let mark = report["mark"] as? Int
      #expect((mark == nil) == (name == "torn"), "\(name)")
      let isUntouched = try folder.bytes(name + ".journal") == before
      #expect(isUntouched)
      let after = try FileManager.default.attributesOfItem(atPath: path)
      #expect(after[.modificationDate] as? Date == attributes[.modificationDate] as? Date)
      #expect(ToolRun.inProcess(["verify", folder.file(name)]).code == 0)
      for part in [name, name + ".dropped"] {
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file(part))
        #expect(mode[.posixPermissions] as? Int == 0o600)
      }
      let again = ToolRun.inProcess(["repair", path, "-o", folder.file(name), "--json"])
      #expect(try again.error()["name"] as? String == "exists")
      #expect(ToolRun.inProcess(["repair", path, "-o", folder.file(name), "--force"]).code == 0)
      // An app opens the repaired journal and continues.
      try Journal.open(at: folder.file(name)).close()
    }
  }

  @Test("RPL-2 JRN-2 repair keeps no record of a batch that contains an impossible record")
  func wholeBatches() throws {
    let folder = try TemporaryFolder()
    let login = SessionRecord.Content.login(SampleJournal.user, SampleJournal.token(1, at: 10))
    let logout = SessionRecord.Content.event(.logout(.init(reason: .user)))
    let path = folder.file("a.journal")
    // The second logout is illegal. Three good records precede it in its batch.
    try SampleJournal.write(
      to: path,
      batches: [
        (0, [.note(.closed)]), (10, [login]),
        (20, [.note(.clockSkew(7)), .note(.closed), logout, logout, .note(.closed)]),
      ])
    let frames = try Journals.frames(try folder.bytes("a.journal"))
    let report = try #require(
      try ToolRun.inProcess(["repair", path, "-o", folder.file("good"), "--json"]).objects().first)
    #expect(report["verdict"] as? String == "illegal")
    #expect(try Self.copied(try folder.bytes("good")).count == frames[1].end)
    #expect(frames[1].isLastOfBatch && !frames[2].isLastOfBatch)
    let state = try #require(
      try ToolRun.inProcess(["state", "--json", folder.file("good")]).objects().first)
    #expect(state["state"] as? String == "authenticated")
    #expect(ToolRun.inProcess(["verify", folder.file("good")]).code == 0)
  }

  @Test("RPL-2 repair in place keeps the good prefix, and a copy of the whole file")
  func inPlace() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for name in ["torn", "undetermined", "damaged", "undecodable", "illegal"] {
      let path = folder.file(name + ".journal")
      let before = try folder.bytes(name + ".journal")
      let run = ToolRun.inProcess(["repair", path, "--in-place", "--json"])
      #expect(run.code == 0, "\(run.errors)")
      let report = try #require(try run.objects().first)
      let backup = try #require(report["backup"] as? String)
      let isKept = try Array(Data(contentsOf: URL(fileURLWithPath: backup))) == before
      #expect(isKept)
      let bytes = try folder.bytes(name + ".journal")
      let copied = try Self.copied(bytes)
      #expect(before.starts(with: copied) && copied.count < before.count)
      #expect(ToolRun.inProcess(["verify", path]).code == 0)
      let again = ToolRun.inProcess(["repair", path, "--in-place"])
      #expect(again.code == 3)
      let isSame = try folder.bytes(name + ".journal") == bytes
      #expect(isSame)
    }
  }

  @Test("RPL-2 repair changes neither a good journal nor records of a newer version")
  func refused() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let good = folder.file("a.journal")
    for options in [["--in-place"], ["-o", folder.file("out")], ["--dry-run"]] {
      let run = ToolRun.inProcess(["repair", good] + options)
      #expect(run.code == 3)
      #expect(run.output.contains("is good"))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    for options in [["--in-place"], ["-o", folder.file("out")], ["--dry-run"]] {
      let before = try folder.bytes("unknown.journal")
      let run = ToolRun.inProcess(["repair", folder.file("unknown.journal"), "--json"] + options)
      #expect(try run.error()["name"] as? String == "unknownKind")
      let isSame = try folder.bytes("unknown.journal") == before
      #expect(isSame)
    }
    var lost = try folder.bytes("compacted.journal")
    lost[100] ^= 1
    let path = try folder.write(lost, to: "lost.journal")
    for options in [["--in-place"], ["-o", folder.file("out")]] {
      let run = ToolRun.inProcess(["repair", path] + options)
      #expect(run.code == 65)
      #expect(run.errors.contains("nothing good is left"))
    }
    let isSame = try folder.bytes("lost.journal") == lost
    #expect(isSame)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(
      !left.contains { $0.hasPrefix("out") || $0.contains("partial") || $0.contains("aside") })
  }

  @Test("RPL-2 a full disk leaves the journal unchanged and no other file")
  func fullDisk() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    // A limit on file sizes simulates a full disk.
    let line = "ulimit -f 1; exec \"$0\" repair \"$1\" -o \"$2\" --json"
    let large = try folder.bytes("damaged.journal")
    #expect(large.count > 1_024)
    let run = try ToolRun.shell(line, [folder.file("damaged.journal"), folder.file("out")])
    #expect(run.code == 74, "\(run.errors)")
    let isSame = try folder.bytes("damaged.journal") == large
    #expect(isSame)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.hasPrefix("out") })
  }
}
