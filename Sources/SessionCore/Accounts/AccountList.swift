/// An account of an app: one session, with a directory and a place for secrets of its own.
///
/// - Requirement: ACC-1
public struct Account: Hashable, Sendable, Identifiable {
  /// The name of the account, a random UUID: also that of its directory.
  public let id: Identifier
  /// When the account was added.
  public let addedAt: Timestamp
  /// When it was last made the current account; `nil` if it never was.
  public internal(set) var lastUsed: Timestamp?
  /// How far its removal has come.
  package internal(set) var stage = Stage.listed

  /// ```
  ///             added           removalBegan           ended           removed
  ///  (unknown) ───────▶ listed ─────────────▶ leaving ───────▶ ended ─────────▶ (unknown)
  ///                      │  ▲
  ///                      └──┘ switched
  /// ```
  /// In `leaving`, the session is logged out, which may take several launches. In `ended`, its files are
  /// removed.
  package enum Stage: UInt8, Hashable, Sendable {
    case listed = 0
    case leaving = 1
    case ended = 2
  }
}

/// A change of the list of accounts.
package enum AccountEvent: Hashable, Sendable {
  /// An account was added, before anything of it was created.
  case added(Identifier)
  /// Another account is the current one; `nil` for none.
  case switched(Identifier?)
  /// The user removes an account.
  case removalBegan(Identifier)
  /// Its session has ended; `end` is its last end, `nil` if no user was ever logged in.
  case ended(Identifier, end: SessionEnd?)
  /// Nothing of the account is left.
  case removed(Identifier)
}

/// Why an event does not fit the events before it.
package enum AccountRejection: Error, Hashable, Sendable, CustomStringConvertible {
  case taken(Identifier)
  case unknown(Identifier)
  /// The account is in another stage of its removal.
  case wrongStage(Identifier, Account.Stage)

  package var description: String {
    switch self {
    case .taken(let id): "there is an account \(id) already"
    case .unknown(let id): "there is no account \(id)"
    case .wrongStage(let id, let stage): "the account \(id) is \(stage)"
    }
  }
}

/// Why a command is refused.
package enum AccountRefusal: Error, Hashable, Sendable {
  case unknown(Identifier)
  case leaving(Identifier)
  /// There are as many accounts as a list can have.
  case full
}

/// What a caller asks of the list.
package enum AccountCommand: Hashable, Sendable {
  case add(Identifier)
  case select(Identifier?)
  case beginRemoval(Identifier)
  case end(Identifier, SessionEnd?)
  case finishRemoval(Identifier)
}

/// The list of accounts, which is the fold of its events (`Specs/Accounts.md`).
///
/// - Requirement: ACC-1
public struct AccountList: Hashable, Sendable {
  /// The accounts that can be used, in the order in which they were added.
  public var all: [Account] { accounts.filter { $0.stage == .listed } }
  /// The account that the app shows; `nil` if none is.
  public var current: Account? { currentID.flatMap { self[$0] } }
  /// The accounts that are being removed.
  ///
  /// Such a user is logged out or about to be. Files remain until the server has been told of it.
  public var leaving: [Account] { accounts.filter { $0.stage != .listed } }

  // A snapshot of a full list is one record of about 20 KB.
  package static let limit = 256

  /// All accounts in the order in which they were added, also those that are being removed.
  package private(set) var accounts: [Account] = []
  package private(set) var currentID: Identifier?

  package init() {}

  package subscript(id: Identifier) -> Account? { accounts.first { $0.id == id } }

  // MARK: Deciding

  /// Returns the events to append; none if nothing changes.
  package func decide(_ command: AccountCommand) throws(AccountRefusal) -> [AccountEvent] {
    switch command {
    case .add(let id):
      guard accounts.count < Self.limit else { throw .full }
      return [.added(id)]
    case .select(nil):
      return currentID == nil ? [] : [.switched(nil)]
    case .select(let id?):
      guard let account = self[id] else { throw .unknown(id) }
      guard account.stage == .listed else { throw .leaving(id) }
      return currentID == id ? [] : [.switched(id)]
    case .beginRemoval(let id):
      guard let account = self[id] else { throw .unknown(id) }
      return account.stage == .listed ? [.removalBegan(id)] : []
    // Another process may have been faster with each of the steps that follow.
    case .end(let id, let end):
      return self[id]?.stage == .leaving ? [.ended(id, end: end)] : []
    case .finishRemoval(let id):
      return self[id]?.stage == .ended ? [.removed(id)] : []
    }
  }

  // MARK: Folding

  package mutating func apply(_ event: AccountEvent, at time: Timestamp) throws(AccountRejection) {
    switch event {
    case .added(let id):
      guard self[id] == nil else { throw .taken(id) }
      accounts.append(Account(id: id, addedAt: time))
    case .switched(nil):
      currentID = nil
    case .switched(let id?):
      accounts[try place(of: id, in: .listed)].lastUsed = time
      currentID = id
    case .removalBegan(let id):
      accounts[try place(of: id, in: .listed)].stage = .leaving
      if currentID == id { currentID = nil }
    case .ended(let id, _):
      accounts[try place(of: id, in: .leaving)].stage = .ended
    case .removed(let id):
      accounts.remove(at: try place(of: id, in: .ended))
    }
  }

  /// Applies the next record of the journal.
  package mutating func apply(_ record: AccountRecord) throws(AccountRejection) {
    switch record.content {
    case .event(let event): try apply(event, at: record.time)
    case .snapshot(let list): self = list
    }
  }

  private func place(of id: Identifier, in stage: Account.Stage) throws(AccountRejection) -> Int {
    guard let place = accounts.firstIndex(where: { $0.id == id }) else { throw .unknown(id) }
    guard accounts[place].stage == stage else { throw .wrongStage(id, accounts[place].stage) }
    return place
  }

  /// Creates the list that a snapshot holds.
  init(snapshot accounts: [Account], currentID: Identifier?) {
    (self.accounts, self.currentID) = (accounts, currentID)
  }
}
