import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@testable import PostgresLog

@Suite("The promises of a log, in PostgreSQL", .serialized)
struct PromiseTests {
  /// Checks whose faults end the connection at each step of a commit.
  static func checks() throws -> LogChecks<PostgresLogPlace> {
    let server = try Server()
    let trap = Trap()
    let database = try server.database {
      $0.connections = 16
    } onStep: {
      trap.met($0)
    }
    let count = Mutex(0)
    var checks = LogChecks {
      let number = count.withLock { count in
        count += 1
        return count
      }
      return PostgresLogPlace("log-\(number)", in: database)
    }
    checks.secrets = { $0.secrets }
    checks.faults = LogStep.allCases.map { step in
      .init("the connection ends when the commit is \(step.rawValue)") { _ in
        trap.arm(step) { server.endConnections() }
      }
    }
    checks.faults.append(
      .init("all idle connections have ended") { _ in server.endConnections() })
    checks.startProcess = { place, times in
      let ended = try server.start("logworker", ["count", place.key, "\(times)"]).end()
      guard ended.status == 0 else { throw WorkerFailed(output: ended.output) }
    }
    return checks
  }

  struct WorkerFailed: Error { let output: String }

  @Test("SCL-1 the log keeps each promise that sessions rely on", arguments: LogPromise.allCases)
  func promise(_ promise: LogPromise) throws {
    try Self.checks().check(promise)
  }

  @Test("SCL-1 twenty processes append without a gap, a repetition or a loss")
  func twenty() throws {
    var checks = try Self.checks()
    (checks.writers, checks.appends) = (20, 10)
    try checks.check(.processes)
  }
}
