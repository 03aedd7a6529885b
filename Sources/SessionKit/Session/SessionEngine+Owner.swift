@_spi(Internals) import SessionCore
import SessionJournal

/// Whose stored items are, if they name another journal than ours.
enum SecretsOwner: Equatable {
  /// No other session: there are no items, they are ours, or they name our own place.
  case none
  /// The session of another journal, which stands at this path.
  case current(String)
  /// The journal of this path is gone: that is proven.
  ///
  /// - Requirement: RES-7
  case gone(String)
  /// Another journal stands at the path.
  case replaced(String)
  /// The journal of this path cannot be read now.
  case unknown(String, JournalError)
  /// The items cannot be read now.
  case unread(SecretStoreError)

  /// Why the items must not be touched; `nil` if they may.
  var refusal: SessionError? {
    switch self {
    case .none, .gone, .replaced: nil
    case .current(let path): .secretsOfAnotherSession(journal: path)
    case .unknown(let path, let problem): .secretsOwnerUnreadable(journal: path, problem: problem)
    case .unread(let problem): .secrets(problem)
    }
  }
}

/// Whose the stored secrets are: two accounts must not share a place for them.
///
/// An item says where its journal stands. While that journal is there, or cannot be read, no other session
/// reads, writes or removes the item. Only if it is proven to be gone does the policy decide.
///
/// - Requirement: RES-5, RES-7
extension SessionEngine {
  /// The owner of the session's items: the token item says it, and without one the user item.
  ///
  /// `own` is our journal's identifier; without one the file at our path is asked.
  static func secretsOwner(_ configuration: SessionConfiguration, own: String? = nil)
    -> SecretsOwner
  {
    do throws(SecretStoreError) {
      if let owner = try owner(of: StoredToken.self, configuration, own) { return owner }
      return try owner(of: StoredUser.self, configuration, own) ?? .none
    } catch {
      return .unread(error)
    }
  }

  /// The owner of one item; `nil` if there is no such item, or it cannot be decoded.
  private static func owner<Item: LocatedItem>(
    of _: Item.Type, _ configuration: SessionConfiguration, _ own: String?
  ) throws(SecretStoreError) -> SecretsOwner? {
    guard let bytes = try configuration.secrets.read(Item.item) else { return nil }
    let stored: Item
    do throws(StoredItemError) { stored = try Item(decoding: bytes) } catch { return nil }
    let options = configuration.journalOptions
    guard stored.journal != own, let path = stored.journalPath,
      SecretsPlace(path) != SecretsPlace(configuration.journal)
    else { return SecretsOwner.none }
    if own == nil {
      let found = Journal.presence(at: configuration.journal, options: options)
      guard found.identifier != stored.journal else { return SecretsOwner.none }
    }
    let presence = Journal.presence(at: path, options: options)
    if presence.identifier == stored.journal { return .current(path) }
    // The identifier says whose the items are; the path says only where that journal stood.
    if let moved = SecretsPlace.candidates(for: path, near: configuration.journal).first(where: {
      Journal.presence(at: $0, options: options).identifier == stored.journal
    }) {
      return .current(moved)
    }
    switch presence {
    case .present: return .replaced(path)
    case .absent: return .gone(path)
    case .unknown(let problem): return .unknown(path, problem)
    }
  }

  private var own: String { journal.identifier.description }

  var secretsOwner: SecretsOwner { Self.secretsOwner(configuration, own: own) }

  /// Why a session may not be opened with the stored secrets: they belong to another session that is
  /// there, or to another backend.
  ///
  /// An owner that cannot be read now does not refuse the opening: its items are locked.
  ///
  /// - Requirement: STO-6
  static func openingRefusal(_ configuration: SessionConfiguration) -> SessionError? {
    if case .current(let path) = secretsOwner(configuration) {
      return .secretsOfAnotherSession(journal: path)
    }
    return configuration.binding.problem(in: configuration.secrets).map(SessionError.secrets)
  }

  /// Why the stored items must not be touched; `nil` if they may.
  ///
  /// They are another session's, or of another backend.
  ///
  /// - Requirement: STO-6
  var foreignOwner: SessionError? {
    secretsOwner.refusal
      ?? configuration.binding.problem(in: configuration.secrets).map(SessionError.secrets)
  }

  /// Whether what another journal's logouts need may be taken: their journal is not there any more.
  var mayTakeStrayRevocations: Bool { ownerOfStrayRevocations?.refusal == nil }

  /// Whether their journal was not found, as of now.
  var isOwnerOfStrayRevocationsGone: Bool {
    if case .gone? = ownerOfStrayRevocations { true } else { false }
  }

  private var ownerOfStrayRevocations: SecretsOwner? {
    do throws(SecretStoreError) {
      return try Self.owner(of: StoredRevocations.self, configuration, own)
    } catch {
      return .unread(error)
    }
  }

  /// Locks items that another session owns, or whose owner cannot be found out: they stay unread.
  ///
  /// `problem` is why nothing could be read, if that is so.
  func lockOthersSecrets(_ facts: inout StoredItemsReport, _ problem: SecretStoreError?) {
    if case .otherBackend? = problem { secretsProblem = problem.map(SessionError.secrets) }
    guard facts.token == .otherJournal || facts.token == .absent && facts.user == .otherJournal
    else { return }
    switch secretsOwner {
    case .none, .current, .replaced: break
    case .gone: facts.owner = .missing
    case .unknown, .unread: facts.owner = .unreadable
    }
    guard let refusal = foreignOwner else { return }
    facts.isLocked = true
    secretsProblem = refusal
  }

  /// Another account has signed in to this place for secrets since we opened.
  func refuseOthersSecrets(before commit: SessionCommit) throws(SessionError) {
    guard case .login? = commit.announcement, let refusal = foreignOwner else { return }
    throw refusal
  }
}

extension JournalPresence {
  fileprivate var identifier: String? {
    if case .present(let identifier) = self { identifier.description } else { nil }
  }
}
