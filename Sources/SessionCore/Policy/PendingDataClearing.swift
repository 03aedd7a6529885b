/// Whether data of the last logout is still to be cleared by the host.
///
/// A `localDataCleared` note or a new login settles it.
///
/// - Requirement: SYN-5
package struct PendingDataClearing: Hashable, Sendable {
  /// A logout whose data was not reported as cleared before another user or the same one logged in.
  ///
  /// The data that the host has now may be the new user's. Only a host that keeps data per login
  /// can tell.
  package struct Overtaken: Hashable, Sendable {
    /// Why that session was closed permanently.
    package let reason: LogoutReason
    /// The user of that session; `nil` if unknown.
    package let user: Identifier?
    /// The last token of that session, or a later generation before the new login.
    package let generation: Generation
  }

  /// Why the session was closed permanently; `nil` if nothing is to be cleared.
  package private(set) var reason: LogoutReason?
  /// The user who logged in last, if that record was read.
  package private(set) var user: Identifier?
  /// The older logout whose data only a host that keeps data per login can still clear.
  package private(set) var overtaken: Overtaken?

  /// Creates a value with nothing to clear.
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

  /// Whether records of this kind matter here, so that the payload must be decoded.
  package static func reads(_ kind: UInt8) -> Bool {
    kind == SessionEvent.Kind.logout.rawValue || kind == SessionEvent.Kind.login.rawValue
      || kind == SessionNote.Kind.localDataCleared.rawValue
  }
}
