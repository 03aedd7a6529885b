import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Processes on a disk that becomes full, and a server that takes a replaced refresh token for theft.
///
/// `SESSION_FULL_DISK=600 swift test --filter FullDiskProcessTests` is the ten minutes of a soak. A daily
/// run takes eight seconds.
@Suite(
  "Processes on a full disk", .serialized,
  .enabled(if: MountedDisk.isAllowed, "mounting takes root"),
  .timeLimit(.minutes(30)))
struct FullDiskProcessTests {
  private static let seconds = Int(ProcessInfo.processInfo.environment["SESSION_FULL_DISK"] ?? "")

  private func bench(_ disk: MountedDisk, life: Duration) async throws -> ProcessBench {
    let bench = try ProcessBench(on: disk) {
      ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true)
      $0.accessTokenLifetime = life
    }
    try await bench.signIn()
    return bench
  }

  @Test(
    "REF-20 a command-line tool on a full disk sends no refresh, and its next run has a session")
  func tool() async throws {
    let disk = try MountedDisk(kibibytes: 160)
    let bench = try await bench(disk, life: .seconds(1))
    try disk.fill()
    try await Task.sleep(for: .milliseconds(1_100))
    for _ in 0..<2 {
      let tool = try await bench.open()
      let answer = try await tool.ask("token")
      #expect(answer.state == "authenticated")
      #expect(try #require(answer.error).contains("secrets/token. No request was sent"))
      #expect(answer.error?.contains("Free at least") == true)
      try await tool.end()
    }
    #expect(bench.server.count(of: .refresh) == 0)
    #expect(try bench.records().allSatisfy { $0.name != "requestSent" })
    try disk.empty()
    let tool = try await bench.open()
    #expect(try await tool.ask("token").error == nil)
    try await tool.end()
    try bench.check()
  }

  @Test("REF-20 four processes lose no session on a disk that fills and empties at random")
  func storm() async throws {
    // The journal grows by about half a KiB for each request, and must not fill the disk itself.
    let disk = try MountedDisk(kibibytes: 400 + 8 * (Self.seconds ?? 8))
    let bench = try await bench(disk, life: .seconds(2))
    var workers: [WorkerProcess] = []
    for _ in 0..<4 { workers.append(try await bench.open(timeout: 60_000)) }
    let context = LoopbackContext.coordinator
    let commands = ["refresh", "token", "call", "switch \(context.roleID) \(context.schoolID)"]
    var (asked, random) = ([(worker: Int, line: Int)](), SystemRandomNumberGenerator())
    let end = ContinuousClock.now + .seconds(Self.seconds ?? 8)
    while ContinuousClock.now < end {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: try disk.fill(leaving: .random(in: 0..<4, using: &random))
      case 2: try disk.empty()
      default:
        let worker = Int.random(in: 0..<workers.count, using: &random)
        let command = try #require(commands.randomElement(using: &random))
        asked.append((worker, try workers[worker].say(command)))
      }
      try await Task.sleep(for: .milliseconds(.random(in: 0..<60, using: &random)))
    }
    try disk.empty()
    var refused = 0
    for (worker, line) in asked {
      let answer = try await workers[worker].answer(to: line)
      #expect(answer.state == "authenticated", "\(answer)")
      if answer.error?.contains("No request was sent") == true { refused += 1 }
    }
    for worker in workers {
      let answer = try await worker.ask("refresh")
      #expect(answer.error == nil, "\(answer)")
    }
    #expect(try bench.fold().kind == .authenticated)
    #expect(!bench.server.calls.contains { $0.code == "TOKEN_REUSED" })
    try bench.check()
    guard Self.seconds != nil else { return }
    let (refreshes, switches) = (
      bench.server.count(of: .refresh), bench.server.count(of: .switchContext)
    )
    print(
      "\(asked.count) commands, \(refreshes) refreshes, \(switches) switches, \(refused) not sent")
  }
}
