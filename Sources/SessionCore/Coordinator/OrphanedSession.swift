/// What is left of a session whose records are in another journal, to continue or to wipe.
///
/// - Requirement: RES-5
package struct OrphanedSession: Hashable, Sendable {
  /// The other journal, and why it does not continue.
  package var link: SessionNote.Continued
  /// The user of the session.
  package var user: Identifier
  /// The context of the session; `nil` if it had none.
  package var context: ActiveContext?
  /// The metadata of its newest token; `generation` is that of the other journal.
  package var token: TokenMetadata
  /// Why it has expired; `nil` if its token is stored and may be used.
  package var expired: ExpiryReason?

  /// Creates a description of an orphaned session.
  package init(
    link: SessionNote.Continued, user: Identifier, context: ActiveContext?, token: TokenMetadata,
    expired: ExpiryReason? = nil
  ) {
    self.link = link
    self.user = user
    self.context = context
    self.token = token
    self.expired = expired
  }

  /// Whether this journal continues the other one, which was quarantined.
  ///
  /// The session then continues too, with any policy.
  ///
  /// - Requirement: RES-6
  var isContinued: Bool { link.cause != .lost }
}

extension RequestNumber {
  /// The number of a response that never arrived: the stored token of an orphaned session.
  ///
  /// No request has this number.
  package static let stray = RequestNumber(0)
}

extension SessionCoordinator {
  /// Whether a session of another journal continues in this one.
  ///
  /// Only if this journal never had a token. A session that ended here must not return with the
  /// items of another journal.
  package func takesOver(_ facts: StoredItemsReport) -> Bool {
    guard state.kind == .unauthenticated, fold.generation == .none, let stray = facts.stray else {
      return false
    }
    guard stray.expired == nil else { return stray.isContinued && policy.onRejection == .keep }
    return stray.isContinued || policy.orphanedSecrets == .adopt
  }

  /// Returns the records with which the orphaned session continues.
  func takenOver(_ stray: OrphanedSession) -> [SessionRecord.Content] {
    let login = SessionEvent.Login(
      user: stray.user, method: .adoption, token: stray.token, context: stray.context)
    // That a journal was quarantined is noted when this one is opened.
    let link = stray.isContinued ? [] : [SessionRecord.Content.note(.continued(stray.link))]
    // The other journal's session has ended already, and its user stays.
    let end = stray.expired.map { SessionEnding.Verdict.expires($0, .keep).events } ?? []
    return link + [.event(.login(login))] + end
  }
}
