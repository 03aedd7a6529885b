/// Whether the host still has to clear its local data: since the last logout neither it has said that it
/// did, nor has anybody signed in (SYN-5).
public struct ClearingDebt: Hashable, Sendable {
  /// Why that session was closed for good; `nil` where nothing is owed.
  public private(set) var reason: LogoutReason?

  /// Nothing is owed.
  public init() {}

  init(_ events: some Sequence<SessionEvent>) {
    for event in events { take(.event(event)) }
  }

  /// Takes in the next record.
  public mutating func take(_ content: SessionRecord.Content) {
    switch content {
    case .event(.logout(let logout)): reason = logout.reason
    case .event(.login), .note(.localDataCleared): reason = nil
    case .event, .note, .snapshot, .unknown: break
    }
  }

  /// Whether a record of this kind says anything of it, so that its payload is worth reading.
  public static func reads(_ kind: UInt8) -> Bool {
    kind == SessionEvent.Kind.logout.rawValue || kind == SessionEvent.Kind.login.rawValue
      || kind == SessionNote.Kind.localDataCleared.rawValue
  }
}
