@_spi(Internals) import SessionCore
import SessionJournal

/// The owner of the stored secrets.
///
/// Two accounts must not share a place for them.
///
/// An item names the path of its journal. While that journal exists or cannot be read, no other
/// session reads, writes or removes the item. If the journal is proven to be gone, the policy
/// decides.
///
/// - Requirement: RES-5, RES-7
extension SessionEngine {
  /// Returns the owner of the session's items.
  ///
  /// The token item names it, or else the user item.
  ///
  /// `own` is our journal's identifier. If it is `nil`, the identifier of the file at our path
  /// counts.
  static func secretsOwner(
    _ configuration: SessionConfiguration, own: String? = nil, continued: [String] = []
  ) -> SecretsOwner {
    do throws(SecretStoreError) {
      if let owner = try owner(of: StoredToken.self, configuration, own, continued) { return owner }
      return try owner(of: StoredUser.self, configuration, own, continued) ?? .none
    } catch {
      return .unread(error)
    }
  }

  /// Returns the owner of one item; `nil` if there is no such item, or if it cannot be decoded.
  private static func owner<Item: LocatedItem>(
    of _: Item.Type, _ configuration: SessionConfiguration, _ own: String?, _ continued: [String]
  ) throws(SecretStoreError) -> SecretsOwner? {
    guard let bytes = try configuration.secrets.read(Item.item),
      let stored = WholeItem<Item>(bytes)?.item
    else { return nil }
    let place = configuration.place
    guard stored.journal != own, let name = stored.journalPath else { return SecretsOwner.none }
    if let own, Item.item == .token, stored.continues.contains(own), place.isNamed(name),
      !continued.contains(stored.journal)
    {
      return .hidden(name)
    }
    guard !place.isNamed(name) else { return SecretsOwner.none }
    if own == nil {
      guard place.findLog().identifier != stored.journal else { return SecretsOwner.none }
    }
    return place.owner(of: stored.journal, named: name)
  }

  private var own: String { vault.owner }

  var secretsOwner: SecretsOwner {
    Self.secretsOwner(configuration, own: own, continued: vault.continued.journals)
  }

  /// Returns why a session may not be opened with the stored secrets; `nil` if it may.
  ///
  /// They belong to another existing session, or to another backend.
  ///
  /// If the owner cannot be read now, the opening is not refused. Its items are locked instead.
  ///
  /// - Requirement: STO-6
  static func openingRefusal(_ configuration: SessionConfiguration) -> SessionError? {
    if case .current(let path) = secretsOwner(configuration) {
      return .secretsOfAnotherSession(journal: path)
    }
    return configuration.binding.problem(in: configuration.secrets).map(SessionError.secrets)
  }

  /// Why the stored items must not be touched; `nil` if they may be.
  ///
  /// They belong to another session or to another backend.
  ///
  /// - Requirement: STO-6
  var foreignOwner: SessionError? { refusal(of: secretsOwner) }

  /// Returns why the stored items of this owner must not be touched; `nil` if they may be.
  func refusal(of owner: SecretsOwner) -> SessionError? {
    owner.refusal
      ?? vault.binding?.problem(in: configuration.secrets).map(SessionError.secrets)
  }

  /// Whether this session may take the revocations of another journal, because that journal does
  /// not exist any more.
  var mayTakeStrayRevocations: Bool { ownerOfStrayRevocations?.refusal == nil }

  /// Whether the journal of those revocations is missing now.
  var isOwnerOfStrayRevocationsGone: Bool {
    if case .gone? = ownerOfStrayRevocations { true } else { false }
  }

  private var ownerOfStrayRevocations: SecretsOwner? {
    do throws(SecretStoreError) {
      return try Self.owner(of: StoredRevocations.self, configuration, own, [])
    } catch {
      return .unread(error)
    }
  }

  /// Locks items that another session owns, or whose owner cannot be determined.
  ///
  /// They stay unread.
  func lockOthersSecrets(_ facts: inout StoredItemsReport) {
    guard facts.token == .otherJournal || facts.token == .absent && facts.user == .otherJournal
    else { return }
    switch secretsOwner {
    case .none, .current, .replaced: break
    case .gone: facts.owner = .missing
    case .hidden, .unknown, .unread: facts.owner = .unreadable
    }
    guard let refusal = foreignOwner else { return }
    facts.isLocked = true
    problems.secrets = refusal
  }

  /// Takes back the items of a journal that continues this one, if they are of this one's session.
  ///
  /// The other journal was at this path while this one was missing. This one hides it now, so no
  /// process can use it. Items that are not taken back stay locked.
  ///
  /// - Requirement: RES-7
  func takeBack() {
    do throws(SecretStoreError) {
      guard let token = try vault.tokenOfSuccessor(of: coordinator.state.user),
        token.journalPath.map(configuration.place.isNamed) == true
      else { return }
      var facts = StoredItemsReport()
      (facts.token, facts.generation) = (.present, token.generation)
      facts.announcement = token.announcement
      guard coordinator.goesOn(with: facts) else { return }
      vault.continued.add([token.journal], to: own)
    } catch {
      // The read that follows reports what is wrong.
    }
  }

  /// Returns how long the journal of the stored items is missed; `nil` if no journal is missed.
  ///
  /// - Requirement: RES-7
  func missedFor(_ facts: StoredItemsReport) throws(SecretStoreError) -> Int64? {
    let isOthers =
      facts.token == .otherJournal || facts.token == .absent && facts.user == .otherJournal
    guard isOthers, !facts.isLocked, let missed = try vault.missedJournal() else { return nil }
    // A journal that was quarantined is not missed: this one replaces it. It may not tell its name.
    if let predecessor {
      guard let name = predecessor.link.journal, missed.journal != name.description else {
        return nil
      }
    }
    let clock = configuration.clock
    return missed.since?.idle(at: clock.now(), boot: clock.boot) ?? 0
  }

  /// Refuses a login if another account has signed in to this place for secrets since this session
  /// was opened.
  func refuseOthersSecrets(before commit: SessionCommit) throws(SessionError) {
    guard case .login? = commit.announcement, let refusal = foreignOwner else { return }
    throw refusal
  }
}
