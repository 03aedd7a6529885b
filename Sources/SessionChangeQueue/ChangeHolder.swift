@_spi(Internals) public import SessionCore

/// The identity of an opening as text, in the records of a change log (`Specs/ChangeLog.md`).
///
/// A change log's records cannot have more fields, since readers refuse a higher version. The
/// `sender` of `changeSent` is an identifier that a writer may choose, so its text contains the
/// identity.
@_spi(Internals) extension ProcessIdentity {
  private static let prefix = "opening"
  private static let separator: Character = ";"

  /// The text `opening;ID;boot;namespace;start;lock`.
  ///
  /// Unknown parts are empty.
  public var spelling: String {
    [
      Self.prefix, opening.description, boot?.description ?? "", namespace?.description ?? "",
      start == 0 ? "" : String(start), lock?.description ?? "",
    ].joined(separator: String(Self.separator))
  }

  /// Creates the identity from this text; `nil` if it is another text.
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

  /// Returns the name of the holder of a session's logout, for the record next to that of the hold.
  fileprivate func name(holding journal: Identifier) -> Identifier {
    Identifier(spelling + String(Self.separator) + journal.description)
  }

  /// Returns the holder and the session's journal in such a name; `nil` if it is another
  /// identifier.
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
  /// The opening that sends the change; `nil` in logs of versions that did not write it.
  package var identity: ProcessIdentity? { ProcessIdentity(spelling: sender.description) }
}

extension ChangeEvent.PendingLogout {
  /// The holder and the journal that this record names; `nil` if the record is the hold itself.
  package var named: (holder: ProcessIdentity, journal: Identifier)? {
    ProcessIdentity.holder(named: journal).map { (holder: $0.0, journal: $0.1) }
  }

  /// Returns two records of a logout of the session of `journal`: the holder's name, and the hold
  /// itself.
  ///
  /// To readers that do not know the name, it is the logout of an unknown session.
  package static func records(
    _ journal: Identifier, by identity: ProcessIdentity, process: UInt32, until: Timestamp
  ) -> [ChangeEvent] {
    [identity.name(holding: journal), journal].map {
      .leaving(.init(journal: $0, process: process, until: until))
    }
  }
}

/// An opening that holds a session's logout: its identity, if it has one, and its process.
package struct LogoutHolder: Hashable, Sendable {
  package let identity: ProcessIdentity?
  package let process: UInt32

  package init(_ identity: ProcessIdentity?, process: UInt32) {
    (self.identity, self.process) = (identity, process)
  }

  /// Returns whether a record says that this opening holds the logout of a session.
  func holds(_ journal: Identifier, by leaving: ChangeEvent.PendingLogout) -> Bool {
    guard let identity else { return leaving.journal == journal && leaving.process == process }
    return leaving.named.map { $0.journal == journal && $0.holder.opening == identity.opening }
      ?? false
  }

  /// Returns the records of a logout that this opening holds, or held.
  func records(of journal: Identifier, until: Timestamp) -> [ChangeEvent] {
    guard let identity else {
      return [.leaving(.init(journal: journal, process: process, until: until))]
    }
    return ChangeEvent.PendingLogout.records(journal, by: identity, process: process, until: until)
  }
}

extension ChangeQueue {
  /// Returns whether a record of a logout replaces another one of the same holder, or ends it.
  ///
  /// Equal process numbers are not sufficient, so the name in the record next to a living hold is
  /// compared.
  func isReplaced(_ held: LogoutHold, by departure: LogoutHold) -> Bool {
    guard held.leaving.journal == departure.leaving.journal,
      held.leaving.process == departure.leaving.process
    else { return false }
    let holder = holder(of: held)
    return holder == nil || holder == self.holder(of: departure)
  }

  /// Returns the opening that holds a logout; `nil` if the log does not contain it.
  package func holder(of held: LogoutHold) -> ProcessIdentity? {
    leaving.lazy.compactMap { other -> ProcessIdentity? in
      guard other.since == held.since, other.leaving.until == held.leaving.until,
        other.leaving.process == held.leaving.process, let named = other.leaving.named
      else { return nil }
      return named.journal == held.leaving.journal ? named.holder : nil
    }.first
  }
}
