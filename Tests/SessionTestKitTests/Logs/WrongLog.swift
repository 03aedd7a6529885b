import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

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
          remainingInBatch: header.remainingInBatch,
          payload: payload.withUnsafeBytes { Array($0) }))
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
    var identifier: JournalIdentifier {
      mistake == .newIdentifier ? random : inner.identifier
    }
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
        _ = try inner.transact { _ in
          ([JournalDraft(kind: 1, payload: Array(text.utf8))], ())
        }
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
      } catch {
        throw .unavailable(error.journalError)
      }
      let decided: (drafts: [JournalDraft], value: Value)
      do throws(Refusal) { decided = try decide(foreign) } catch {
        throw .refused(error, foreign: foreign)
      }
      do throws(TransactionError<Value, Never>) {
        return try inner.transact { _ in decided }
      } catch {
        throw .appendFailed(error.journalError, value: decided.value)
      }
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
      default:
        return try inner.compact(keepingFrom: first, ifFirstIs: expected, summary: summary)
      }
    }

    func close() throws(JournalError) {
      if mistake != .worksAfterClose { try inner.close() }
    }
  }
}
