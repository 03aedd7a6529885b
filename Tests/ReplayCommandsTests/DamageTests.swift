import ChildProcesses
import Foundation
import SessionTestKit
import Testing

@Suite("RPL-2 verify")
struct DamageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
    try SampleJournal.write(to: folder.file("open.journal"), closing: false)
  }

  @Test("JRN-2 verify calls a cut journal torn, unless it is cut at the end of a batch")
  func cut() throws {
    let whole = try folder.bytes("open.journal")
    let frames = try Journals.frames(whole)
    let ends = Set([64] + frames.filter(\.isLastOfBatch).map(\.end))
    #expect(ends.contains(whole.count))
    for length in Sweep("cuts", takingOneOf: 10).places(of: whole.indices) {
      let path = try folder.write(Array(whole[..<length]), to: "cut.journal")
      let end = ends.filter { $0 <= length }.max() ?? 0
      // A frame may begin with zeros: if only zeros of it are left, they look like reserved room.
      let isRoom = whole[end..<length].allSatisfy { $0 == 0 }
      let expected: Int32 = length < 64 ? 65 : (isRoom ? 0 : 2)
      let verify = ToolRun.inProcess(["verify", path, "--json"])
      #expect(verify.code == expected, "cut to \(length) bytes")
      guard length >= 64 else { continue }
      let report = try #require(try verify.objects().first)
      #expect(report["verdict"] as? String == (expected == 0 ? "good" : "torn"))
      #expect(report["bytes"] as? Int == end)
      // To save time, each other command is checked for one length in three.
      for (index, command) in ["timeline", "state"].enumerated() where length % 3 == index {
        #expect(ToolRun.inProcess([command, path]).code == expected)
      }
    }
  }

  @Test("JRN-2 verify finds a flipped bit at any place and reports the good prefix")
  func flipped() throws {
    // A watermark proves every batch but itself to be durable: only it may be undetermined.
    let whole = try folder.bytes("a.journal")
    let frames = try Journals.frames(whole)
    let last = try #require(frames.last)
    for place in Sweep("flipped bits", takingOneOf: 10).places(of: whole.indices) {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      let path = try folder.write(bytes, to: "flipped.journal")
      let run = ToolRun.inProcess(["verify", path, "--json"])
      let expected: Set<Int32> = place < last.end ? [65] : [2, 65]
      #expect(expected.contains(run.code), "bit at \(place): \(run.code)")
      guard place >= 64 else { continue }
      let report = try #require(try run.objects().first)
      let batch = frames.last { $0.offset <= place && place < $0.end }
      let good = frames.filter { $0.isLastOfBatch && $0.end <= place }.map(\.end).max() ?? 64
      #expect(report["bytes"] as? Int == good, "bit at \(place)")
      let error = try run.error()
      let offset = try #require(error["offset"] as? Int)
      #expect(offset >= good && offset <= (batch?.offset ?? last.end), "bit at \(place)")
    }
  }

  @Test("timeline marks records after damage, state shows the good prefix, and both exit with 65")
  func prefix() throws {
    let whole = try folder.bytes("a.journal")
    let frames = try Journals.frames(whole)
    for index in frames.indices {
      var bytes = whole
      bytes[frames[index].middle] ^= 4
      let path = try folder.write(bytes, to: "damaged.journal")
      // A batch counts whole or not at all.
      let good = frames[..<index].lastIndex(where: \.isLastOfBatch).map { $0 + 1 } ?? 0
      let end = frames[index...].firstIndex(where: \.isLastOfBatch)
      let next = try #require(end) + 2
      for options in [[], ["-r"], ["-n", "99"]] {
        let timeline = ToolRun.inProcess(["timeline", path, "--json"] + options)
        #expect(timeline.code == 65)
        let shown = try timeline.objects().map { record in
          (sequence: record["sequence"] as? Int ?? 0, isAfter: record["behind"] as? Bool == true)
        }
        let before = shown.filter { !$0.isAfter }.map(\.sequence)
        #expect(before.sorted() == Array(1..<(good + 1)), "\(index) \(options)")
        let after = shown.filter(\.isAfter).map(\.sequence)
        #expect(after.sorted() == Array(next..<(frames.count + 1)), "\(index) \(options)")
      }
      let state = ToolRun.inProcess(["state", path, "--json"])
      #expect(state.code == 65)
      #expect(try state.objects()[0]["sequence"] as? Int == good)
      #expect(state.errors.contains("as of seq \(good)."))
    }
  }

  @Test("timeline and state do not read past the selected record")
  func before() throws {
    try Journals.write(into: folder)
    let path = folder.file("damaged.journal")
    #expect(ToolRun.inProcess(["timeline", path, "--until", "@5"]).code == 0)
    #expect(ToolRun.inProcess(["state", path, "--at", "@5"]).code == 0)
    #expect(ToolRun.inProcess(["state", path, "--at", "@20"]).code == 65)
  }

  @Test("JRN-3 timeline shows unknown kinds and illegal events; state and verify exit with 65")
  func judging() throws {
    try Journals.write(into: folder)
    for (name, lines) in [("unknown", 3), ("illegal", 29)] {
      let path = folder.file("\(name).journal")
      let timeline = ToolRun.inProcess(["timeline", path])
      #expect(timeline.code == 0)
      #expect(timeline.output.split(separator: "\n").count == lines)
      #expect(ToolRun.inProcess(["state", path]).code == 65)
      #expect(ToolRun.inProcess(["verify", path]).code == 65)
    }
  }

  @Test("verify also reports damage after an illegal event")
  func both() throws {
    try Journals.write(into: folder)
    var bytes = try folder.bytes("illegal.journal")
    let frames = try Journals.frames(bytes)
    bytes[try #require(frames.last).middle] ^= 1
    let path = try folder.write(bytes, to: "both.journal")
    let run = ToolRun.inProcess(["verify", path, "--json"])
    let report = try #require(try run.objects().first)
    #expect(run.code == 65)
    #expect(report["verdict"] as? String == "illegal")
    #expect(report["frames"] as? String == "damaged")
    #expect(ToolRun.inProcess(["verify", path]).output.contains("is damaged at byte"))
  }
}
