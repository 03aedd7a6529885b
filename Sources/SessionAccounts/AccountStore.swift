import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import Synchronization

/// The journal of an account list, and the list that results from its records.
///
/// Every call waits for the disk.
final class AccountStore: Sendable {
  private static let compactedAfter: UInt64 = 512

  let journal: Journal
  private let clock: any SessionClock
  private let state: Mutex<State>
  /// The list as of the last read of the file.
  let shown: LatestValue<AccountList>

  private struct State {
    var list: AccountList
    /// Why a record of another process could not be taken in; the list is not known from then on.
    var problem: AccountsError?
  }

  private init(_ journal: Journal, _ list: AccountList, _ clock: any SessionClock) {
    (self.journal, self.clock) = (journal, clock)
    state = Mutex(State(list: list))
    shown = LatestValue(list)
  }

  deinit { shown.finish() }

  /// Opens the journal, or creates it.
  ///
  /// A damaged one is moved aside, and the new list has the accounts whose journals are found.
  static func open(_ path: String, _ options: JournalOptions, _ clock: any SessionClock)
    throws(AccountsError) -> AccountStore
  {
    let identity = try onJournal { () throws(JournalError) in
      try Journal.identity(at: path, options: options)
    }
    let store: AccountStore
    do throws(AccountsError) {
      store = try load(path, options, clock)
    } catch {
      guard error.isOfDamagedList, let identity else { throw error }
      let time = clock.now().time.description
        .prefix { $0 != "." }.filter { $0.isLetter || $0.isNumber }
      try onJournal { () throws(JournalError) in
        _ = try Journal.setAside(
          path, identity, reason: "damaged", time: time + "Z", options: options)
      }
      store = try load(path, options, clock)
    }
    try store.rebuild(path, options)
    return store
  }

  private static func load(_ path: String, _ options: JournalOptions, _ clock: any SessionClock)
    throws(AccountsError) -> AccountStore
  {
    // Most programs only read the list, which needs no lock. Else it is opened, from the beginning.
    for isReadOnly in [true, false] {
      var list = AccountList()
      var problem: AccountsError?
      func replay(_ frame: JournalFrame, _ payload: RawSpan) {
        guard problem == nil else { return }
        do throws(AccountsError) {
          try list.take(frame.sequence, frame.kind, payload, path)
        } catch {
          problem = error
        }
      }
      let opened = try onJournal { () throws(JournalError) in
        isReadOnly
          ? try Journal.read(at: path, options: options, replay: replay)
          : try Journal.open(at: path, options: options, replay: replay)
      }
      guard let journal = opened else { continue }
      guard let problem else { return AccountStore(journal, list, clock) }
      try onJournal { () throws(JournalError) in try journal.close() }
      throw problem
    }
    throw .journal(.missing(path: path))
  }

  /// Adds the accounts whose directories are there, if the list continues one that was moved aside.
  ///
  /// A crash before their batch leaves the journal empty, so the next opening does it again.
  private func rebuild(_ path: String, _ options: JournalOptions) throws(AccountsError) {
    guard journal.lastSequence == 0 else { return }
    let aside = try Self.onJournal { () throws(JournalError) in
      try Journal.lastSetAside(at: path, options: options)
    }
    guard aside != nil else { return }
    let folder = URL(filePath: path).deletingLastPathComponent()
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
      throw .journal(.unavailable(path: folder.path, problem: "it cannot be listed"))
    }
    let found = names.sorted().map { Identifier($0) }.filter { id in
      let journal = folder.appending(path: "\(id)/session.journal").path
      return id.uuid != nil && FileManager.default.fileExists(atPath: journal)
    }
    try commit { list in
      // Another process may have been faster.
      list.accounts.isEmpty ? found.prefix(AccountList.limit).map { .added($0) } : []
    }
  }

  private static func onJournal<Value>(_ work: () throws(JournalError) -> Value)
    throws(AccountsError) -> Value
  {
    do throws(JournalError) { return try work() } catch { throw .journal(error) }
  }

  /// Reads what other processes have appended, and durably appends the events of a command.
  ///
  /// Returns the list after them.
  @discardableResult
  func perform(_ command: AccountCommand) throws(AccountsError) -> AccountList {
    try commit { list throws(AccountsError) in
      do throws(AccountRefusal) { return try list.decide(command) } catch {
        throw AccountsError(error)
      }
    }
  }

  /// Reads what other processes have appended, without a lock.
  func read() throws(AccountsError) -> AccountList {
    try state.withLock { state throws(AccountsError) in
      let foreign = try Self.onJournal { () throws(JournalError) in try journal.catchUp() }
      try take(foreign, &state)
      return state.list
    }
  }

  /// Takes in records of others, which are delivered only once.
  private func take(_ foreign: [JournalRecord], _ state: inout State) throws(AccountsError) {
    if let problem = state.problem { throw problem }
    defer { show(state.list) }
    for record in foreign {
      do throws(AccountsError) {
        try state.list.take(
          record.sequence, record.kind, record.payload.span.bytes, journal.path)
      } catch {
        state.problem = error
        throw error
      }
    }
  }

  private func show(_ list: AccountList) { shown.publish(list) { $0 == list } }

  @discardableResult
  private func commit(
    _ decide: (AccountList) throws(AccountsError) -> [AccountEvent]
  ) throws(AccountsError) -> AccountList {
    try state.withLock { state throws(AccountsError) in
      let time = clock.now().time
      var current = state
      defer { state = current }
      do throws(TransactionError<AccountList, AccountsError>) {
        let written = try journal.transact { foreign throws(AccountsError) in
          try take(foreign, &current)
          let drafts = try decide(current.list).map { JournalDraft($0, at: time) }
          var written = current.list
          for draft in drafts {
            try written.take(0, draft.kind, draft.payload.span.bytes, journal.path)
          }
          return (drafts, written)
        }.value
        current.list = written
      } catch {
        switch error {
        case .unavailable(let error), .appendFailed(let error, _): throw .journal(error)
        case .refused(let refusal, _): throw refusal
        }
      }
      show(current.list)
      compactIfLong()
      return current.list
    }
  }

  private func compactIfLong() {
    guard journal.lastSequence >= journal.firstSequence + Self.compactedAfter else { return }
    do throws(JournalError) {
      _ = try journal.compact(
        keepingFrom: .max, ifFirstIs: journal.firstSequence, summary: AccountSummary())
    } catch {
      // The event is durable. The file is only longer than it should be, and the next event tries again.
    }
  }

  func close() throws(AccountsError) {
    shown.finish()
    try Self.onJournal { () throws(JournalError) in try journal.close() }
  }
}

extension JournalDraft {
  fileprivate init(_ event: AccountEvent, at time: Timestamp) {
    let (kind, payload) = AccountCodec.encode(event, at: time)
    self.init(kind: kind, payload: payload)
  }
}

extension AccountList {
  /// Takes in the next record of the journal at `path`.
  mutating func take(_ sequence: UInt64, _ kind: UInt8, _ payload: RawSpan, _ path: String)
    throws(AccountsError)
  {
    guard AccountCodec.owns(kind: kind, payload: payload) else {
      throw .notAccounts(path: path, sequence: sequence, kind: kind)
    }
    let record: AccountRecord?
    do throws(CodecError) { record = try AccountCodec.decode(kind: kind, payload: payload) } catch {
      throw .unusable(path: path, sequence: sequence, problem: error.description)
    }
    guard let record else { throw .newerVersion(path: path, sequence: sequence, kind: kind) }
    do throws(AccountRejection) { try apply(record) } catch {
      throw .unusable(path: path, sequence: sequence, problem: error.description)
    }
  }
}

/// Builds the snapshot of a list's journal while it is compacted.
private struct AccountSummary: JournalSummary {
  private var list = AccountList()
  private var time = Timestamp(milliseconds: 0)
  private var isBroken = false

  mutating func take(_ header: RecordHeader, payload: RawSpan) {
    guard !isBroken else { return }
    do {
      guard let record = try AccountCodec.decode(kind: header.kind, payload: payload) else {
        isBroken = true
        return
      }
      try list.apply(record)
      time = record.time
    } catch {
      // No snapshot may replace a record that cannot be read. The opening reports the problem.
      isBroken = true
    }
  }

  func snapshot() -> [UInt8]? { isBroken ? nil : AccountCodec.encode(list, at: time) }
}
