import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("A process without standard streams", .timeLimit(.minutes(3)))
struct DaemonTests {
  @Test("JRN-1 STO-2 what a daemon prints to closed standard streams is in no file of its session")
  func closedStreams() async throws {
    let bench = try ProcessBench()
    let worker = try await bench.open("streams=closed")
    let user = LoopbackUser.sample
    #expect(try await worker.ask("changes").error == nil)
    #expect(try await worker.ask("login \(user.email) \(user.password)").error == nil)
    #expect(try await worker.ask("add \(UUID().uuidString)").error == nil)
    #expect(try await worker.ask("refresh").generation == 2)
    #expect(try await worker.ask("call").status == 200)
    try await worker.end()
    #expect(try bench.count(of: .refreshSucceeded) == 1)
    let noise = Data("what a daemon prints".utf8)
    var files = 0
    for path in try FileManager.default.subpathsOfDirectory(atPath: bench.folder.path) {
      let file = bench.folder.appending(path: path)
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        continue
      }
      files += 1
      #expect(try Data(contentsOf: file).range(of: noise) == nil, "\(path)")
    }
    #expect(files >= 6)
    // Another process reads everything.
    let next = try await bench.open()
    #expect(try await next.ask("changes").error == nil)
    #expect(try await next.ask("token").generation == 2)
    try bench.check()
  }
}
