import Foundation
import SessionJournal
import SessionKit
import Synchronization
import Testing

@testable import PostgresLog

@Suite("Crashes and frozen processes", .serialized, .timeLimit(.minutes(5)))
struct CrashTests {
  /// What is left of a batch with a secret: all or nothing.
  private func expectWhole(_ place: PostgresLogPlace, isDurable: Bool?) throws {
    let records = try texts(place)
    let secret = try place.secrets.read(.token).map { String(decoding: $0, as: UTF8.self) }
    if records == ["old"] {
      #expect(secret == "old")
      #expect(isDurable != true)
    } else {
      #expect(records == ["old", "\u{1}", "\u{2}"])
      #expect(secret == "new")
      #expect(isDurable != false)
    }
  }

  private func begin(_ place: PostgresLogPlace) throws -> PostgresLog {
    let log = try place.open { _, _ in }
    try log.append("old")
    try place.secrets.write(.token, Array("old".utf8))
    return log
  }

  @Test(
    "SCL-1 a process that is killed at a step leaves batch and secret, or neither",
    arguments: LogStep.allCases)
  func killed(step: LogStep) throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try begin(place)
    let ended = try server.start("logworker", ["die", "a", step.rawValue]).end()
    #expect(ended.status == SIGKILL)
    // The log is free as soon as the server has noticed that the process is gone.
    let isDurable: Bool? =
      switch step {
      case .locked, .decided: false
      case .sent: nil
      case .committed: true
      }
    var met: [JournalRecord]?
    while met == nil {
      do throws(TransactionError<Void, Never>) {
        met = try log.transact { _ in ([], ()) }.transaction.foreign
      } catch {
        guard case .unavailable(.busy) = error else { throw error }
      }
    }
    let left = try texts(place)
    #expect(met?.isEmpty == (left == ["old"]))
    try expectWhole(place, isDurable: isDurable)
    try log.close()
  }

  @Test(
    "SCL-1 a process that is stopped at a step blocks others no longer than the idle limit",
    arguments: [LogStep.locked, .decided, .sent])
  func frozen(step: LogStep) throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try begin(place)
    let holder = try server.start("logworker", ["freeze", "a", step.rawValue])
    #expect(holder.firstOutput().contains(step.rawValue))
    let start = ContinuousClock.now
    var busy = 0
    var isDone = false
    while !isDone {
      let call = ContinuousClock.now
      do throws(TransactionError<Void, Never>) {
        try log.append("other")
        isDone = true
      } catch {
        guard case .unavailable(.busy) = error else { throw error }
        busy += 1
      }
      #expect(.now - call < .seconds(1), "a call waited for the stopped process")
      try #require(.now - start < .seconds(20))
    }
    // What was sent is committed without the process. Otherwise the server ends its transaction.
    if step != .sent { #expect(busy > 0) }
    #expect(kill(holder.identifier, SIGCONT) == 0)
    let ended = try holder.end()
    let records = try texts(place)
    if step == .sent {
      #expect(records == ["old", "\u{1}", "\u{2}", "other"])
    } else {
      #expect(records == ["old", "other"])
      #expect(ended.status != 0, "\(ended)")
      let isKnown = ["token item", "the connection"].contains { ended.output.contains($0) }
      #expect(isKnown, "\(ended)")
      #expect(try place.secrets.read(.token) == Array("old".utf8))
    }
    try log.close()
  }

  @Test("SCL-1 a server that is frozen blocks a call no longer than the answer limit")
  func frozenServer() throws {
    let server = try Server()
    let place = PostgresLogPlace(
      "a",
      in: try server.database {
        ($0.answerLimit, $0.statementLimit) = (.milliseconds(500), .milliseconds(400))
        $0.connections = 1
      })
    let log = try begin(place)
    let rows = try Server.ask(
      "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = '\(server.application)'")
    let process = Int32(rows.integer(0, 0))
    try #require(rows.count == 1 && kill(process, SIGSTOP) == 0)
    let start = ContinuousClock.now
    var found: JournalError?
    do throws(TransactionError<Void, Never>) { try log.append("lost") } catch {
      found = error.journalError
    }
    #expect(.now - start < .seconds(3))
    #expect(found == .unavailable(path: place.name, problem: "the server did not answer in time"))
    #expect(kill(process, SIGCONT) == 0)
    try log.append("next")
    #expect(try texts(place) == ["old", "next"])
    try log.close()
  }

  @Test("SCL-1 the server ends a statement that takes too long, and the connection stays usable")
  func slowStatement() throws {
    let server = try Server()
    let database = try server.database { $0.statementLimit = .milliseconds(200) }
    let start = ContinuousClock.now
    #expect(throws: ServerProblem.refused(code: "57014")) {
      try database.withConnection { slot throws(ServerProblem) in
        try database.begin([Statement("SELECT pg_sleep(30)")], on: slot)
      } problem: {
        $0
      }
    }
    #expect(.now - start < .seconds(5))
    #expect(try texts(PostgresLogPlace("a", in: database)).isEmpty)
    #expect(database.openConnections == 1)
  }

  @Test(
    "SCL-1 a server that stops at a step and starts again has the batch once, or not at all",
    arguments: LogStep.allCases)
  func serverStops(step: LogStep) throws {
    let server = try Server()
    let trap = Trap()
    let place = PostgresLogPlace("a", in: try server.database(onStep: { trap.met($0) }))
    let log = try begin(place)
    trap.arm(step) {
      do { try Server.control("stop", "immediate") } catch { Issue.record(error) }
    }
    var isAcknowledged = false
    do throws(TransactionError<Void, SecretStoreError>) {
      _ = try log.transact { (_) throws(SecretStoreError) in
        // After the step `locked` the server is gone, and the store throws.
        try place.secrets.write(.token, Array("new".utf8))
        return ([.text("\u{1}"), .text("\u{2}")], ())
      }
      isAcknowledged = true
    } catch {
      if case .appendFailed(let error, _) = error {
        guard case .unavailable = error else { throw error }
      }
    }
    // Nothing is known while the server is away.
    guard case .unknown(.unavailable) = place.presence() else {
      Issue.record("the presence is \(place.presence())")
      return
    }
    try Server.control("start")
    // The answer to what was sent may have been faster than the end of the server.
    if step != .sent { #expect(isAcknowledged == (step == .committed)) }
    var foreign: [JournalRecord]?
    let start = ContinuousClock.now
    while foreign == nil {
      do throws(TransactionError<Void, Never>) {
        foreign = try log.transact { _ in ([], ()) }.transaction.foreign
      } catch {
        try #require(.now - start < .seconds(20), "\(error)")
      }
    }
    let isDurable = try texts(place).count == 3
    #expect(foreign?.isEmpty == (isAcknowledged || !isDurable))
    try expectWhole(place, isDurable: isAcknowledged ? true : step == .sent ? nil : false)
    try log.append("next")
    try log.close()
  }

  @Test("SCL-1 connections that end all the time lose, repeat and disorder nothing")
  func connectionsEnd() throws {
    let server = try Server()
    let isOver = Mutex(false)
    let place = PostgresLogPlace("a", in: try server.database { $0.connections = 6 })
    try place.open { _, _ in }.close()
    let writers = 4
    let group = DispatchGroup()
    let lost = Mutex(0)
    for _ in 0..<writers {
      DispatchQueue.global().async(group: group) {
        do { try Self.count(at: place, times: 150, lost) } catch { Issue.record(error) }
      }
    }
    let killer = DispatchGroup()
    DispatchQueue.global().async(group: killer) {
      while !isOver.withLock({ $0 }) {
        server.endConnections()
        Thread.sleep(forTimeInterval: 0.005)
      }
    }
    group.wait()
    isOver.withLock { $0 = true }
    killer.wait()
    let numbers = try texts(place).map { Int($0) ?? -1 }
    #expect(numbers == Array(1...max(1, numbers.count)))
    #expect(numbers.count >= writers * 150)
    #expect(lost.withLock { $0 } > 0, "no connection ended during a commit")
  }

  /// Appends the number after the last one, until that was acknowledged `times` times.
  private static func count(at place: PostgresLogPlace, times: Int, _ lost: borrowing Mutex<Int>)
    throws
  {
    let last = Mutex(0)
    func take(_ bytes: [UInt8]) {
      let number = Int(String(decoding: bytes, as: UTF8.self)) ?? -1
      last.withLock { last in
        if number != last + 1 { Issue.record("\(number) follows \(last)") }
        last = number
      }
    }
    var opened: PostgresLog?
    while opened == nil {
      last.withLock { $0 = 0 }
      do throws(JournalError) {
        opened = try place.open { _, payload in take(payload.withUnsafeBytes { Array($0) }) }
      } catch {
        guard case .unavailable = error else { throw error }
      }
    }
    guard let log = opened else { return }
    var done = 0
    // Under little load no connection may end within a commit, so it goes on until one has.
    let end = ContinuousClock.now + .seconds(20)
    while done < times || lost.withLock({ $0 }) == 0 && .now < end {
      do throws(TransactionError<Void, Never>) {
        let number = try log.transact { foreign in
          for record in foreign { take(record.payload) }
          return ([.text("\(last.withLock { $0 } + 1)")], ())
        }
        for record in number.transaction.appended { take(record.payload) }
        done += 1
      } catch {
        if case .appendFailed = error { lost.withLock { $0 += 1 } }
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
    try log.close()
  }
}
