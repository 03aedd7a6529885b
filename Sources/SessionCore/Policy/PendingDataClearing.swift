/// Whether the host still has to clear its local data: since the last logout neither it has said that it
/// did, nor has anybody signed in.
///
/// - Requirement: SYN-5
package struct PendingDataClearing: Hashable, Sendable {
  /// A logout whose data nobody has said to be cleared, and behind which somebody has signed in.
  ///
  /// What the host has now may be the new user's. A host that tells sign-ins apart knows whose it is.
  package struct Overtaken: Hashable, Sendable {
    /// Why that session was closed for good.
    package let reason: LogoutReason
    /// Its user; `nil` where that is not known any more.
    package let user: Identifier?
    /// Its last token, or a later one of nobody.
    package let generation: Generation
  }

  /// Why that session was closed for good; `nil` where nothing is owed.
  package private(set) var reason: LogoutReason?
  /// The user who signed in last, as far as was read.
  package private(set) var user: Identifier?
  /// What only a host that tells sign-ins apart can clear still.
  package private(set) var overtaken: Overtaken?

  /// Nothing is owed.
  package init() {}

  init(_ events: some Sequence<SessionEvent>) {
    for event in events { take(.event(event)) }
  }

  /// Takes in the next record.
  package mutating func take(_ content: SessionRecord.Content) {
    switch content {
    case .event(.logout(let logout)): reason = logout.reason
    case .event(.login(let login)):
      if let reason {
        let number = login.token.generation.number
        overtaken = Overtaken(
          reason: reason, user: user, generation: Generation(number > 0 ? number - 1 : 0))
      }
      (reason, user) = (nil, login.user)
    case .note(.localDataCleared): (reason, overtaken) = (nil, nil)
    case .event, .note, .snapshot, .unknown: break
    }
  }

  /// Whether a record of this kind says anything of it, so that its payload is worth reading.
  package static func reads(_ kind: UInt8) -> Bool {
    kind == SessionEvent.Kind.logout.rawValue || kind == SessionEvent.Kind.login.rawValue
      || kind == SessionNote.Kind.localDataCleared.rawValue
  }
}
