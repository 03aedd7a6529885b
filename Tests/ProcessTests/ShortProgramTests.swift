import Foundation
import SessionTestKit
import Testing

/// Programs that find a good token and go: command-line tools, extensions, widgets.
@Suite("Programs that only need a token", .timeLimit(.minutes(3)))
struct ShortProgramTests {
  /// Every file below a folder, with its bytes and the time of its last change.
  private func files(in folder: URL) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let path = folder.appending(path: name).path
      let status = try FileManager.default.attributesOfItem(atPath: path)
      let isFile = status[.type] as? FileAttributeType == .typeRegular
      found[name] = [
        "\(status[.modificationDate] ?? "")", "\(status[.size] ?? "")",
        isFile ? try Data(contentsOf: URL(filePath: path)).base64EncodedString() : "",
      ]
    }
    return found
  }

  @Test("LCH-1 they change no byte and wait for no lock, and all see what another one refreshes")
  func unchanged() async throws {
    let bench = try ProcessBench()
    try await bench.signIn()
    // The file of living openings is made by the first process that looks for it.
    try await bench.open().end()
    let before = try files(in: bench.folder)
    let other = try await bench.open()
    // Another process has the lock all the time.
    let lock = open(bench.journal + ".lock", O_RDWR)
    #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
    var together: [WorkerProcess] = []
    for _ in 0..<10 { together.append(try await bench.open()) }
    for worker in together {
      let answer = try await worker.ask("call")
      #expect(answer.error == nil && answer.generation == 1)
    }
    let sweep = Sweep("short programs", takingOneOf: 20)
    for _ in 0..<sweep.cases(of: 200) {
      let worker = try await bench.open()
      #expect(try await worker.ask("call").generation == 1)
      #expect(try await worker.ask("close").error == nil)
      try await worker.end()
    }
    #expect(try files(in: bench.folder) == before)
    #expect(bench.server.count(of: .refresh) == 0)

    #expect(close(lock) == 0)
    #expect(try await other.ask("refresh").generation == 2)
    for worker in together {
      // The system reports the change soon.
      while try await worker.ask("call").generation != 2 {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    #expect(try await bench.open().ask("call").generation == 2)
    #expect(bench.server.count(of: .refresh) == 1)
    try bench.check()
  }
}
