import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("The promises of a log")
struct LogChecksTests {
  private static let folder = FileManager.default.temporaryDirectory
    .appending(path: "logs-\(UUID().uuidString)")

  /// Checks of a journal in a real file.
  private static func files() -> LogChecks<JournalPlace> {
    LogChecks {
      let own = folder.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      return JournalPlace(
        path: own.appending(path: "a.journal").path,
        options: JournalOptions(lockDeadline: .milliseconds(10)))
    }
  }

  private static func memory() -> LogChecks<MemoryLog> {
    var checks = LogChecks { MemoryLog() }
    checks.secrets = { $0.secrets }
    checks.faults = [
      .init("the log cannot be reached") {
        $0.fail(at: .begin, with: .unavailable(path: $0.name, problem: "a test"))
      },
      .init("no space") { $0.fail(at: .append, with: .diskFull(path: $0.name)) },
      .init("the answer is lost") {
        $0.fail(at: .acknowledge, with: .unavailable(path: $0.name, problem: "a test"))
      },
    ]
    checks.startProcess = { place, times in try LogChecks.countUp(at: place, times: times) }
    return checks
  }

  @Test("SCL-1 a journal keeps each promise", arguments: LogPromise.allCases)
  func journal(promise: LogPromise) throws {
    try Self.files().check(promise)
  }

  @Test("SCL-1 a log in memory keeps each promise", arguments: LogPromise.allCases)
  func memory(promise: LogPromise) throws {
    try Self.memory().check(promise)
  }

  @Test("SCL-1 a journal keeps its promise at each call of a full disk", arguments: 1...40)
  func failures(call: Int) throws {
    let disk = SimulatedDisk()
    let count = Mutex(0)
    var checks = LogChecks {
      let number = count.withLock { count in
        count += 1
        return count
      }
      return JournalPlace(
        path: "/\(number).journal", options: JournalOptions(lockDeadline: .zero).on(disk))
    }
    checks.faults = [
      .init(
        "call \(call) finds no space", heal: { _ in disk.stopFaults() },
        inject: { _ in disk.fail(atCall: disk.callCount + call, with: .noSpace) })
    ]
    try checks.check(.failure)
  }

  @Test("SCL-1 all checks together find nothing in a log in memory")
  func together() { #expect(Self.memory().brokenPromises() == []) }

  @Test(
    "SCL-1 each check finds a log that breaks its promise", arguments: WrongLog.Mistake.allCases)
  func found(mistake: WrongLog.Mistake) throws {
    let secrets = MemorySecretStore()
    var checks = LogChecks { WrongLog(mistake) }
    checks.longestWait = .milliseconds(200)
    checks.secrets = { place -> any SecretStore in
      if mistake == .secretsApart { secrets } else { place.log.secrets }
    }
    checks.faults = [
      .init("no space") { $0.log.fail(at: .append, with: .diskFull(path: "wrong")) },
      .init("the answer is lost") {
        $0.log.fail(at: .acknowledge, with: .unavailable(path: "wrong", problem: "a test"))
      },
    ]
    checks.startProcess = { place, times in try LogChecks.countUp(at: place, times: times) }
    let broken = checks.brokenPromises()
    #expect(broken.contains { $0.promise == mistake.promise }, "\(mistake): \(broken)")
    #expect(broken.allSatisfy { !$0.problem.isEmpty && $0.description.contains(": ") })
  }

  @Test("SCL-1 there is a wrong log for each promise")
  func complete() {
    #expect(Set(WrongLog.Mistake.allCases.map(\.promise)) == Set(LogPromise.allCases))
  }

  @Test("SCL-1 the page names each promise, in the order of the checks")
  func page() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let page = try String(
      contentsOf: root.appending(path: "Specs/Logs.md"), encoding: .utf8)
    let head = "| promise | what it says | file journal | PostgreSQL | memory |"
    let rows = page.components(separatedBy: "\n").drop { $0 != head }.dropFirst(2)
      .prefix { $0.hasPrefix("|") }
    let names = rows.map { row in
      row.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
    }
    #expect(names == LogPromise.allCases.map(\.rawValue))
  }
}
