@_spi(Internals) public import SessionCore

/// The identity of an opening as text, in the records of a change log (`Specs/ChangeLog.md`).
///
/// A change log's records have no room for more fields: readers refuse a higher version. The `sender`
/// of `changeSent` is an identifier that a writer may choose, so the identity is its spelling.
@_spi(Internals) extension ProcessIdentity {
  private static let prefix = "opening"
  private static let separator: Character = ";"

  /// As `opening;ID;boot;namespace;start;lock`, with nothing for what is not known.
  public var spelling: String {
    [
      Self.prefix, opening.description, boot?.description ?? "", namespace?.description ?? "",
      start == 0 ? "" : String(start), lock?.description ?? "",
    ].joined(separator: String(Self.separator))
  }

  /// The identity with this spelling; `nil` if it is other text.
  public init?(spelling: String) {
    self.init(parts: spelling.split(separator: Self.separator, omittingEmptySubsequences: false))
  }

  private init?(parts: [Substring]) {
    guard parts.count == 6, parts[0] == Self.prefix, !parts[1].isEmpty,
      let start = parts[4].isEmpty ? 0 : UInt64(parts[4])
    else { return nil }
    func known(_ part: Substring) -> Identifier? {
      part.isEmpty ? nil : Identifier(String(part))
    }
    self.init(
      opening: Identifier(String(parts[1])), boot: known(parts[2]), namespace: known(parts[3]),
      start: start, lock: known(parts[5]))
  }

  /// The name under which the holder of a session's logout stands beside it.
  fileprivate func name(holding journal: Identifier) -> Identifier {
    Identifier(spelling + String(Self.separator) + journal.description)
  }

  /// The holder and the session's journal that such a name means; `nil` if it is another.
  fileprivate static func holder(named name: Identifier) -> (ProcessIdentity, Identifier)? {
    let parts = name.description.split(
      separator: separator, maxSplits: 6, omittingEmptySubsequences: false)
    guard parts.count == 7, let identity = ProcessIdentity(parts: Array(parts.prefix(6))) else {
      return nil
    }
    return (identity, Identifier(String(parts[6])))
  }
}

extension ChangeEvent.Sent {
  /// The opening that sends it; `nil` in logs of versions that did not write it.
  package var identity: ProcessIdentity? { ProcessIdentity(spelling: sender.description) }
}

extension ChangeEvent.PendingLogout {
  /// The holder and the journal that this record names, if it only says whose another one is.
  package var named: (holder: ProcessIdentity, journal: Identifier)? {
    ProcessIdentity.holder(named: journal).map { (holder: $0.0, journal: $0.1) }
  }

  /// Two records of a logout of the session of `journal`: the holder's name, and the hold itself.
  ///
  /// To readers that do not know the name, it is the logout of a session that they do not have.
  package static func records(
    _ journal: Identifier, by identity: ProcessIdentity, process: UInt32, until: Timestamp
  ) -> [ChangeEvent] {
    [identity.name(holding: journal), journal].map {
      .leaving(.init(journal: $0, process: process, until: until))
    }
  }
}

extension ChangeQueue {
  /// Whether a record of a logout takes the place of another of the same holder, or ends it.
  ///
  /// Equal process numbers are not enough: the name of a living hold stands beside it.
  func isReplaced(_ held: LogoutHold, by departure: LogoutHold) -> Bool {
    guard held.leaving.journal == departure.leaving.journal,
      held.leaving.process == departure.leaving.process
    else { return false }
    let holder = holder(of: held)
    return holder == nil || holder == self.holder(of: departure)
  }

  /// The opening that holds a logout; `nil` if the log does not say.
  package func holder(of held: LogoutHold) -> ProcessIdentity? {
    leaving.lazy.compactMap { other -> ProcessIdentity? in
      guard other.since == held.since, other.leaving.until == held.leaving.until,
        other.leaving.process == held.leaving.process, let named = other.leaving.named
      else { return nil }
      return named.journal == held.leaving.journal ? named.holder : nil
    }.first
  }
}
