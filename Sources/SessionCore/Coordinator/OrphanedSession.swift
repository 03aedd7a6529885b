/// A session whose records are in another journal: what is left of it, to go on with or to wipe.
///
/// - Requirement: RES-5
package struct OrphanedSession: Hashable, Sendable {
  /// The journal that it lived in, and why it does not go on there.
  package var link: SessionNote.Continued
  /// Whose it is.
  package var user: Identifier
  /// The context that it was in.
  package var context: ActiveContext?
  /// What is known of its newest token; `generation` is that of the other journal.
  package var token: TokenMetadata
  /// Why it has expired; `nil` where its token is stored and good for use.
  package var expired: ExpiryReason?

  /// What is left of a session.
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

  /// Whether this journal goes on from that one, which was set aside: then the session goes on too,
  /// and no policy is asked.
  ///
  /// - Requirement: RES-6
  var isContinued: Bool { link.cause != .lost }
}

extension RequestNumber {
  /// The answer that stands for a stray session's token, found where it is stored; no request has this
  /// number.
  package static let stray = RequestNumber(0)
}

extension SessionCoordinator {
  /// Whether a session of another journal goes on in this one.
  ///
  /// Only where this one never had a token: one that was ended here does not come back by what another
  /// journal left.
  package func takesOver(_ facts: StoredItemsReport) -> Bool {
    guard state.kind == .unauthenticated, fold.generation == .none, let stray = facts.stray else {
      return false
    }
    guard stray.expired == nil else { return stray.isContinued && policy.onRejection == .keep }
    return stray.isContinued || policy.orphanedSecrets == .adopt
  }

  /// The records by which it does.
  func takenOver(_ stray: OrphanedSession) -> [SessionRecord.Content] {
    let login = SessionEvent.Login(
      user: stray.user, method: .adoption, token: stray.token, context: stray.context)
    // That a journal was set aside is noted when this one is opened.
    let link = stray.isContinued ? [] : [SessionRecord.Content.note(.continued(stray.link))]
    let end = stray.expired.map { endEvents($0, .keep) } ?? []
    return link + [.event(.login(login))] + end
  }
}
