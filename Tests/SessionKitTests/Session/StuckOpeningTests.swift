import Dispatch
import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

@Suite("Openings that do not end, and sessions that are open", .timeLimit(.minutes(3)))
struct StuckOpeningTests {
  @Test("SCL-2 eight openings whose store of secrets does not answer stop no session that is open")
  func stores() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let asked = Mutex(0)
    let answer = DispatchSemaphore(value: 0)
    let store = InterceptedStore(before: { (_, _) throws(SecretStoreError) in
      asked.withLock { $0 += 1 }
      answer.wait()
      answer.signal()
    })
    let openings = (0..<8).map { number in
      let configuration = SessionConfiguration(
        journal: bench.folder.appending(path: "stuck-\(number).journal").path, secrets: store,
        backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), policy: .bench,
        clock: bench.clock)
      return Task { _ = try await Session.open(configuration).close() }
    }
    await eventually("all threads for openings wait") { asked.withLock { $0 } >= 4 }
    let refreshed = Mutex(false)
    let refresh = Task {
      _ = try await session.refresh()
      refreshed.withLock { $0 = true }
    }
    await eventually("the open session is refreshed", within: 60) { refreshed.withLock { $0 } }
    answer.signal()
    for opening in openings { try await opening.value }
    try await refresh.value
    try await session.close()
  }

  @Test("SCL-2 an open session leaves the threads for openings, to those for its kind of log")
  func threads() async throws {
    let bench = try Bench()
    for isLocal in [true, false] {
      let log = MemoryLog()
      let lane = WorkLane(on: .opening)
      var configuration =
        isLocal
        ? bench.configuration()
        : SessionConfiguration(
          log: log, backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), secrets: log.secrets)
      configuration.runtime = {
        SessionRuntime(executor: lane, perform: { lane.perform($0) })
      }
      let session = try await Session.open(configuration)
      #expect(lane.pool === (isLocal ? WorkPool.shared : .remote))
      try await session.close()
    }
  }
}
