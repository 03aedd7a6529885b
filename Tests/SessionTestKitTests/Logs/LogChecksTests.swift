import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("The promises of a log")
struct LogChecksTests {
  private static let folder = FileManager.default.temporaryDirectory.appending(
    path: "logs-\(UUID().uuidString)")

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
      }, .init("no space") { $0.fail(at: .append, with: .diskFull(path: $0.name)) },
      .init("the answer is lost") {
        $0.fail(at: .acknowledge, with: .unavailable(path: $0.name, problem: "a test"))
      },
    ]
    checks.startProcess = { place, times in try LogChecks.countUp(at: place, times: times) }
    return checks
  }

  @Test("SCL-1 a journal keeps each promise", arguments: LogPromise.allCases)
  func journal(promise: LogPromise) throws { try Self.files().check(promise) }

  @Test("SCL-1 a log in memory keeps each promise", arguments: LogPromise.allCases)
  func memory(promise: LogPromise) throws { try Self.memory().check(promise) }

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
    let page = try String(contentsOf: root.appending(path: "Specs/Logs.md"), encoding: .utf8)
    let head = "| promise | what it says | file journal | PostgreSQL | memory |"
    let rows = page.components(separatedBy: "\n").drop { $0 != head }.dropFirst(2).prefix {
      $0.hasPrefix("|")
    }
    let names = rows.map { row in row.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
    }
    #expect(names == LogPromise.allCases.map(\.rawValue))
  }
}

/// The place of a log in memory that breaks one promise.
struct WrongLog: SessionLogPlace {
  enum Mistake: String, CaseIterable, Sendable {
    case newIdentifier, reversedReplay, repeatedDelivery, appendBetween, refusalWrites
    case halfBatch, lostNumber, numberLostByProcesses, patientCalls, wrongPage, noNews
    case compactionLosesRecords, compactsAnyway, worksAfterClose, secretsApart

    var promise: LogPromise {
      switch self {
      case .newIdentifier: .identity
      case .reversedReplay: .order
      case .repeatedDelivery: .delivery
      case .appendBetween: .decision
      case .refusalWrites: .refusal
      case .halfBatch: .failure
      case .lostNumber: .threads
      case .numberLostByProcesses: .processes
      case .patientCalls: .busy
      case .wrongPage: .pages
      case .noNews: .news
      case .compactionLosesRecords: .compaction
      case .compactsAnyway: .compactionRefusal
      case .worksAfterClose: .closing
      case .secretsApart: .secrets
      }
    }
  }

  let log = MemoryLog()
  let mistake: Mistake

  init(_ mistake: Mistake) { self.mistake = mistake }

  var name: String { log.name }
  func presence() -> LogPresence { log.presence() }

  func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> Opening {
    var records: [JournalRecord] = []
    let opening = try log.open { header, payload in
      records.append(
        JournalRecord(
          sequence: header.sequence, offset: 0, kind: header.kind,
          remainingInBatch: header.remainingInBatch, payload: payload.withUnsafeBytes { Array($0) })
      )
    }
    if mistake == .reversedReplay { records.reverse() }
    for record in records { replay(record.header, record.payload.span.bytes) }
    return Opening(opening, mistake)
  }

  final class Opening: SessionLog {
    private let inner: MemoryLog.Opening
    private let mistake: Mistake
    private let isClosed = Mutex(false)
    private let received = Mutex<[JournalRecord]>([])
    private let random = JournalIdentifier.random()

    init(_ inner: MemoryLog.Opening, _ mistake: Mistake) {
      (self.inner, self.mistake) = (inner, mistake)
    }

    var name: String { inner.name }
    var identifier: JournalIdentifier { mistake == .newIdentifier ? random : inner.identifier }
    var firstSequence: UInt64 { inner.firstSequence }
    var lastSequence: UInt64 { inner.lastSequence }

    func transact<Value: Sendable, Refusal: Error>(
      _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (
        drafts: [JournalDraft], value: Value
      )
    ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
      if mistake == .appendBetween { return try transactUnlocked(decide) }
      if [.lostNumber, .numberLostByProcesses].contains(mistake) {
        Thread.sleep(forTimeInterval: 0.0005)
      }
      do throws(TransactionError<Value, Refusal>) {
        return try inner.transact { (foreign) throws(Refusal) in
          let known = received.withLock { received -> [JournalRecord] in
            defer { received += foreign }
            switch mistake {
            case .repeatedDelivery: return received + foreign
            // One of the others' records is not handed over.
            case .lostNumber, .numberLostByProcesses: return Array(foreign.dropLast())
            default: return foreign
            }
          }
          return try decide(known)
        }
      } catch {
        makeMistake(after: error)
        throw error
      }
    }

    private func makeMistake<Value: Sendable, Refusal: Error>(
      after error: TransactionError<Value, Refusal>
    ) {
      switch (mistake, error) {
      case (.refusalWrites, .refused), (.refusalWrites, .appendFailed): write("mistake")
      case (.halfBatch, .appendFailed): write("b1")
      case (.patientCalls, .unavailable(.busy)): Thread.sleep(forTimeInterval: 0.5)
      default: break
      }
    }

    private func write(_ text: String) {
      do throws(TransactionError<Void, Never>) {
        _ = try inner.transact { _ in ([JournalDraft(kind: 1, payload: Array(text.utf8))], ()) }
      } catch {
        // The mistake is not made.
      }
    }

    /// Decides first, and appends afterwards: others may append in between.
    private func transactUnlocked<Value: Sendable, Refusal: Error>(
      _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (
        drafts: [JournalDraft], value: Value
      )
    ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
      let foreign: [JournalRecord]
      do throws(TransactionError<[JournalRecord], Never>) {
        foreign = try inner.transact { ([], $0) }.value
      } catch { throw .unavailable(error.journalError) }
      let decided: (drafts: [JournalDraft], value: Value)
      do throws(Refusal) { decided = try decide(foreign) } catch {
        throw .refused(error, foreign: foreign)
      }
      do throws(TransactionError<Value, Never>) { return try inner.transact { _ in decided } } catch
      { throw .appendFailed(error.journalError, value: decided.value) }
    }

    func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
      let page = try inner.records(after: sequence, limit: limit)
      return mistake == .wrongPage ? Array(page.dropFirst(page.count > 3 ? 1 : 0)) : page
    }

    func hasNews() throws(JournalError) -> Bool {
      let hasNews = try inner.hasNews()
      return mistake != .noNews && hasNews
    }

    func compact(
      keepingFrom first: UInt64, ifFirstIs expected: UInt64?, summary: some JournalSummary
    ) throws(JournalError) -> JournalCompaction? {
      switch mistake {
      case .compactsAnyway:
        return try inner.compact(keepingFrom: first, ifFirstIs: nil, summary: summary)
      case .compactionLosesRecords:
        return try inner.compact(keepingFrom: .max, ifFirstIs: expected, summary: summary)
      default: return try inner.compact(keepingFrom: first, ifFirstIs: expected, summary: summary)
      }
    }

    func close() throws(JournalError) { if mistake != .worksAfterClose { try inner.close() } }
  }
}
