import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import SessionTesting
import Testing

@testable import ReplayCommands
@testable import SessionJSON

/// Commands that work on blocks in several threads, compared with the same in one thread.
@Suite("Work on blocks in several threads")
struct OrderedWorkTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("results come in the order of the blocks, and few blocks wait")
  func order() {
    var work = OrderedWork<Int, Int>(most: 3) { number in
      // The first blocks take longest.
      usleep(UInt32(max(0, 20 - number)) * 500)
      return number
    }
    var results: [Int] = []
    for number in 0..<40 {
      work.add(number) { results.append($0) }
      #expect(results.count >= number - 2)
    }
    work.finish(with: 40) { results.append($0) }
    #expect(results == Array(0...40))
  }

  @Test("the caller does all of the work if there is no thread", arguments: [1, 2, 8])
  func alone(most: Int) {
    let caller = ObjectIdentifier(Thread.current)
    var work = OrderedWork<Int, Bool>(most: most, threads: 0) { _ in
      ObjectIdentifier(Thread.current) == caller
    }
    var results: [Bool] = []
    for number in 0..<20 { work.add(number) { results.append($0) } }
    work.finish(with: 20) { results.append($0) }
    #expect(results == Array(repeating: true, count: 21))
  }

  @Test("the caller does all of the work if no thread can be started")
  func noThread() {
    let caller = ObjectIdentifier(Thread.current)
    var starts = 0
    var results: [Bool] = []
    var work = OrderedWork<Int, Bool>(
      most: 3, threads: 2,
      start: { _ in
        starts += 1
        return false
      },
      work: { _ in ObjectIdentifier(Thread.current) == caller })
    for number in 0..<20 { work.add(number) { results.append($0) } }
    work.finish(with: nil) { results.append($0) }
    // Each block is another chance.
    #expect(starts == 20)
    #expect(results == Array(repeating: true, count: 20))
  }

  @Test("results come in order from many threads, and few blocks wait")
  func manyThreads() {
    var work = OrderedWork<Int, Int>(most: 3, threads: 7) { number in
      if number % 7 == 0 { usleep(200) }
      return number
    }
    var results: [Int] = []
    for number in 0..<1_000 {
      work.add(number) { results.append($0) }
      if results.count < number - 2 { Issue.record("\(results.count) results of \(number)") }
    }
    work.finish(with: nil) { results.append($0) }
    #expect(results == Array(0..<1_000))
  }

  @Test("an error of the caller ends the work, and no result is passed on after it")
  func fails() {
    struct Full: Error {}
    var work = OrderedWork<Int, Int>(most: 2, threads: 1) { $0 }
    var results: [Int] = []
    #expect(throws: Full.self) {
      for number in 0..<20 {
        try work.add(number) { result throws(Full) in
          guard result < 5 else { throw Full() }
          results.append(result)
        }
      }
    }
    #expect(results == [0, 1, 2, 3, 4])
  }

  /// A file of some thousand records.
  private func bytes(seed: UInt64, _ edit: (inout [CraftedJournals.Frame]) -> Void = { _ in })
    throws -> [UInt8]
  {
    let records = try RowsHistory(seed: seed, records: 6_000).records
    let isCompacted = if case .snapshot? = records.first?.content { true } else { false }
    var frames = records.map { record in
      let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      return CraftedJournals.Frame(kind: kind, payload: payload, sequence: record.sequence)
    }
    edit(&frames)
    let first = isCompacted ? frames[0].sequence + 1 : 1
    return CraftedJournals.file(first: first, snapshot: isCompacted, frames)
  }

  @Test(
    "RPL-4 an import of many blocks finds the error that one thread finds",
    arguments: Sweep("imports of many blocks", takingOneOf: 3).places(of: UInt64(1)...5))
  func imports(seed: UInt64) throws {
    let path = try folder.write(bytes(seed: seed), to: "x.journal")
    var lines = ToolRun.inProcess(["export", "--reveal", path]).output
      .split(separator: "\n").map(String.init)
    var chance = Chance(seed)
    let broken = [100, lines.count / 2, lines.count - 3].map { $0 + Int(chance.below(3)) }
    for (place, line) in broken.enumerated() where seed % 5 != 0 {
      switch (seed + UInt64(place)) % 4 {
      case 0: lines[line].removeLast()
      case 1: lines[line] = lines[line].replacing("\"sequence\":", with: "\"sequence\":9")
      case 2: lines[line] = lines[line].replacing("\"time\":\"2", with: "\"time\":\"x")
      default: lines.swapAt(line, line - 1)
      }
    }
    let found = ImportRefusalTests.read(lines)
    let text = try folder.write(
      Array((lines.joined(separator: "\n") + "\n").utf8), to: "x.jsonl")
    let copy = folder.file("y.journal")
    let run = ToolRun.inProcess(["import", text, "-o", copy])
    if let found {
      #expect(run.code == 65)
      #expect(run.errors.contains("line \(found.line): \(found.problem.message)."), "\(run.errors)")
    } else {
      #expect(run.code == 0 && seed % 5 == 0, "\(run.errors)")
      #expect(
        ToolRun.inProcess(["export", "--reveal", copy]).output
          == ToolRun.inProcess(["export", "--reveal", path]).output)
    }
  }
}
