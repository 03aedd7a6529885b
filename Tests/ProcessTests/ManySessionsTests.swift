import Foundation
import Testing

#if os(Linux)
/// The counts are those of a process of its own, in which no other test runs.
@Suite("Many sessions in one process", .timeLimit(.minutes(5)))
struct ManySessionsTests {
  private func count(_ name: String, in worker: WorkerProcess) async throws -> Int {
    let answer = try await worker.ask(name)
    return try #require(answer.status, "\(answer)")
  }

  @Test(
    "SCL-2 400 sessions take a descriptor each, 16 threads at most and one instance of inotify")
  func costs() async throws {
    let bench = try ProcessBench()
    let worker = try bench.start()
    #expect(try await count("many 1", in: worker) == 1)
    let (threads, files) = (
      try await count("threads", in: worker), try await count("descriptors", in: worker)
    )
    #expect(try await count("many 400", in: worker) == 401)
    #expect(try await count("threads", in: worker) <= threads + 16)
    // The locks of some, the file that shows which are alive, and what reads this folder.
    #expect(try await count("descriptors", in: worker) <= files + 400 + 24)
    // A session watches for other processes half a second after its opening.
    var instances = 0
    while instances == 0 {
      instances = try await count("inotify", in: worker)
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(instances == 1)
    #expect(try await count("closeall", in: worker) == 401)
    #expect(try await count("descriptors", in: worker) <= files + 8)
    try await worker.end()
  }

  @Test("SCL-2 REF-9 the sessions of one process hold their locks in one file with many names")
  func oneFile() async throws {
    let bench = try ProcessBench()
    let worker = try bench.start()
    // Openings that come together without an open file may each begin one.
    #expect(try await count("many 1", in: worker) == 1)
    #expect(try await count("many 40", in: worker) == 41)
    let names = try (0..<40).map { number in
      try FileManager.default.attributesOfItem(
        atPath: bench.journal + "-many/\(number)/session.journal.alive")[.systemFileNumber]
        as? NSNumber
    }
    #expect(names.allSatisfy { $0 != nil } && Set(names).count == 1)
    try await worker.end()
  }
}
#endif
