public import Foundation
@_spi(Internals) import SessionCore
package import SessionJournal

extension SessionConfiguration {
  /// A place that a session moves away from.
  public struct FormerPlace: Sendable {
    var place: FilePlace
    var secrets: any SecretStore

    /// Creates the place that an earlier version of the app gave to its session.
    ///
    /// - Parameters:
    ///   - directory: the former directory, a file URL.
    ///   - secrets: the former store, such as a keychain without an access group.
    public init(directory: URL, secrets: some SecretStore) {
      (place, self.secrets) = (FilePlace(directory: directory), secrets)
    }

    package init(path: String, options: JournalOptions, secrets: any SecretStore) {
      place = FilePlace(path: path)
      place.options = options
      self.secrets = secrets
    }
  }
}

/// What an opening does about a former place.
///
/// ```
///              copy              record `moved`            rename             remove the rest
///  at former ───────▶ at former ────────────────▶ staged ─────────▶ at place ────────────────▶ done
///              staged                                      moved               moved
/// ```
/// The record is the only moment that counts: before it the session is at the former place, after it here.
enum MoveStep: String, CaseIterable {
  /// There is nothing to move, or nothing is left to do.
  case open = "open here"
  /// The session has to stay where it is for now.
  case stay = "stay"
  /// The session is at the former place and can move.
  case move = "move"
  /// The record is there, so the staged copy is the session.
  case finish = "finish"
  /// The copy is in place; the secrets of the former place are left.
  case cleanUp = "clean up"

  /// What is at one place.
  enum Content: String, CaseIterable {
    /// No journal, or one in which no user ever logged in.
    case unused = "unused"
    case used = "used"
    /// A session whose request may still be answered, or whose journal cannot be folded.
    case busy = "busy"
    /// The last record says that the session moved away.
    case moved = "moved"
  }

  init(former: Content, here: Content, isStaged: Bool) {
    switch (former, here) {
    case (.unused, _): self = .open
    // A user logged in here, too. That session is not replaced, and the former one is not touched.
    case (.used, .used), (.used, .busy), (.busy, .used), (.busy, .busy): self = .open
    case (.used, .unused), (.used, .moved): self = .move
    case (.busy, .unused), (.busy, .moved): self = .stay
    case (.moved, .used), (.moved, .busy): self = .cleanUp
    // Without a copy there is nothing to continue, such as after a deletion of this place.
    case (.moved, .unused), (.moved, .moved): self = isStaged ? .finish : .open
    }
  }
}

/// Moves a session to the configuration's place before it is opened there.
struct SessionMove: Sendable {
  let configuration: SessionConfiguration
  let former: SessionConfiguration.FormerPlace
  let place: FilePlace

  private var options: JournalOptions { place.options }

  /// Returns the configuration with which the session must be opened now.
  static func place(of configuration: SessionConfiguration, _ runtime: SessionRuntime)
    async throws(SessionError) -> SessionConfiguration
  {
    guard let move = try SessionMove(configuration) else { return configuration }
    return try await runtime.result(within: move.place.deadline) { () throws(SessionError) in
      try move.run()
    }
  }

  /// Whether the session of a configuration is, or may be, still at its former place.
  static func isAtFormerPlace(_ configuration: SessionConfiguration) throws(SessionError) -> Bool {
    guard let move = try SessionMove(configuration),
      !Journal.hasMoved(from: move.former.place.path, options: move.options)
    else { return false }
    switch try move.content(of: move.former.place.path) {
    case .unused, .moved: return false
    case .used, .busy: return true
    }
  }

  /// Creates the move; `nil` if the configuration has no former place.
  private init?(_ configuration: SessionConfiguration) throws(SessionError) {
    guard let former = configuration.formerPlace else { return nil }
    guard let place = configuration.place as? FilePlace else {
      throw .wrongAddress("the session's log is no file, so no session can move to it")
    }
    try former.place.check()
    guard former.place.path != place.path else {
      throw .wrongAddress("the session's former directory is its directory, so it cannot move")
    }
    (self.configuration, self.former, self.place) = (configuration, former, place)
    #if canImport(Security)
    // Without an access group, the keychain searches every group. So the former item and its copy
    // would be one for some calls, and the removal of one would remove both.
    if let old = former.secrets as? KeychainSecretStore,
      let new = configuration.secrets as? KeychainSecretStore,
      old.service == new.service, old.accessGroup != new.accessGroup
    {
      throw .wrongAddress("both keychain groups have one service; give the new one another service")
    }
    #endif
  }

  /// Whether both places have one store, so that no item moves.
  private var sharesItems: Bool {
    if let old = former.secrets as? FileSecretStore,
      let new = configuration.secrets as? FileSecretStore
    {
      let real = { (store: FileSecretStore) in
        URL(filePath: store.folder).resolvingSymlinksInPath().path
      }
      return real(old) == real(new)
    }
    #if canImport(Security)
    if let old = former.secrets as? KeychainSecretStore,
      let new = configuration.secrets as? KeychainSecretStore
    {
      return old.service == new.service
    }
    #endif
    return former.secrets as AnyObject === configuration.secrets as AnyObject
  }

  /// Waits for the disk.
  ///
  /// Throws if nothing tells at which place the session is.
  private func run() throws(SessionError) -> SessionConfiguration {
    guard !Journal.hasMoved(from: former.place.path, options: options) else {
      return configuration
    }
    let was: MoveStep.Content
    do throws(SessionError) { was = try content(of: former.place.path) } catch {
      // An extension cannot reach the app's own directory, and needs it no more.
      guard try content(of: place.path) == .used else { throw error }
      return configuration
    }
    guard was != .unused else { return configuration }
    do throws(SessionError) { try place.prepare(for: configuration.secrets) } catch {
      guard was != .moved else { throw error }
      return stayed(because: error)
    }
    var destination = try onJournal { () throws(JournalError) in
      try JournalDestination(place.path, options: options)
    }
    defer { destination.release() }
    let step = MoveStep(
      former: was, here: try content(of: place.path), isStaged: try onJournal(destination.isStaged))
    switch step {
    case .open:
      try onJournal(destination.discard)
      return configuration
    case .stay: return stayed(because: busy)
    case .move:
      do throws(SessionError) { try commit(destination) } catch {
        // After a failed sync, only the journal tells whether the record is there.
        guard try content(of: former.place.path) != .moved else { throw error }
        return stayed(because: error)
      }
      try putInPlace(destination)
    case .finish: try putInPlace(destination)
    case .cleanUp: break
    }
    destination.release()
    var moved = configuration
    do throws(SessionError) { try cleanUp(notes: step != .cleanUp) } catch {
      // The session is whole here. The next opening removes the rest.
      moved.moveProblem = error
    }
    return moved
  }

  private func stayed(because problem: SessionError) -> SessionConfiguration {
    var stayed = configuration
    (stayed.place, stayed.secrets) = (former.place, former.secrets)
    stayed.moveProblem = problem
    return stayed
  }

  /// Copies everything and appends the record, under the locks of both places.
  private func commit(_ destination: JournalDestination) throws(SessionError) {
    let time = configuration.clock.now().time
    let opened = try onJournal { () throws(JournalError) in
      // Only a whole journal moves: a cut of its end would need a note.
      try Journal.read(at: former.place.path, options: former.place.options) { _, _ in }
    }
    guard let journal = opened else { throw busy }
    defer { close(journal) }
    try refuseItems(butOf: journal.identifier.description)
    do throws(TransactionError<Void, SessionError>) {
      _ = try journal.transact { _ throws(SessionError) in
        // Another process may have sent a request, or moved the session, since it was read.
        guard try content(of: former.place.path) == .used else { throw busy }
        try copySecrets()
        try onJournal { () throws(JournalError) in try destination.stage(former.place.path) }
        return (MovedRecord.drafts(at: time), ())
      }
    } catch {
      switch error {
      case .unavailable(let error), .appendFailed(let error, _): throw .journal(error)
      case .refused(let refusal, _):
        retract()
        throw refusal
      }
    }
  }

  private func putInPlace(_ destination: JournalDestination) throws(SessionError) {
    try onJournal { () throws(JournalError) in
      // It may have moved away from here earlier. A mark that stayed would hide the next move.
      try Journal.note(hasMoved: false, from: place.path, options: options)
      try destination.putInPlace()
    }
  }

  /// Notes the move here, and removes what the former place has no use for.
  private func cleanUp(notes: Bool) throws(SessionError) {
    if notes {
      let opened = try onJournal { () throws(JournalError) in
        try Journal.read(at: place.path, options: options) { _, _ in }
      }
      if let journal = opened {
        defer { close(journal) }
        let (kind, payload) = SessionCodec.encode(
          .note(.moved), at: configuration.clock.now().time)
        try onJournal { () throws(JournalError) in
          _ = try journal.append([JournalDraft(kind: kind, payload: payload)])
        }
      }
    }
    if !sharesItems {
      try onSecrets { () throws(SecretStoreError) in
        for item in SecretItem.all {
          try former.secrets.remove(item)
          try former.secrets.removeSetAside(item)
        }
      }
    }
    try onJournal { () throws(JournalError) in
      try Journal.note(hasMoved: true, from: former.place.path, options: options)
    }
  }

  private var busy: SessionError {
    .cannotMoveYet(
      from: former.place.path,
      because: "a request may still be answered, or the end of the journal has to be repaired")
  }

  /// Throws if the new store has items of another session, which a copy would replace.
  private func refuseItems(butOf owner: String) throws(SessionError) {
    guard !sharesItems else { return }
    try refuse(StoredToken.self, butOf: owner)
    try refuse(StoredUser.self, butOf: owner)
    try refuse(StoredRevocations.self, butOf: owner)
  }

  private func refuse<Item: LocatedItem>(_: Item.Type, butOf owner: String) throws(SessionError) {
    var bytes: [UInt8]?
    try onSecrets { () throws(SecretStoreError) in bytes = try configuration.secrets.read(Item.item)
    }
    guard let bytes else { return }
    let stored = WholeItem<Item>(bytes)?.item
    guard stored?.journal != owner else { return }
    throw .secretsOfAnotherSession(journal: stored?.journalPath ?? "another session")
  }

  private func copySecrets() throws(SessionError) {
    guard !sharesItems else { return }
    try onSecrets { () throws(SecretStoreError) in
      for item in SecretItem.all {
        if let bytes = try former.secrets.read(item) {
          try configuration.secrets.write(item, bytes)
        } else {
          try configuration.secrets.remove(item)
        }
      }
    }
  }

  /// Removes the copies of a move that did not happen.
  private func retract() {
    guard !sharesItems else { return }
    do throws(SessionError) {
      try onSecrets { () throws(SecretStoreError) in
        for item in SecretItem.all { try configuration.secrets.remove(item) }
      }
    } catch {
      // The next move replaces them, and no other session uses them: they name their journal.
    }
  }

  private func content(of path: String) throws(SessionError) -> MoveStep.Content {
    var payloads = PayloadFold()
    do {
      var reader = try JournalReader(path: path, fileSystem: options.fileSystem)
      while let record = try reader.next() {
        if record.kind == SessionRecord.movedKind { return .moved }
        _ = try payloads.apply(
          sequence: record.sequence, kind: record.kind, payload: record.payload.span.bytes)
      }
      let fold = try payloads.fold()
      guard fold.eventSequence > 0 else { return .unused }
      return fold.intents.request == nil ? .used : .busy
    } catch let error as JournalError {
      switch error {
      case .missing, .folderMissing: return .unused
      case .permissionDenied: throw .journal(error)
      // An opening repairs it or moves it aside. It can move after that.
      default: return .busy
      }
    } catch {
      return .busy
    }
  }

  private func close(_ journal: Journal) {
    do throws(JournalError) { try journal.close() } catch {
      // Each record is durable already.
    }
  }

  private func onJournal<Value>(_ work: () throws(JournalError) -> Value)
    throws(SessionError) -> Value
  {
    do throws(JournalError) { return try work() } catch { throw .journal(error) }
  }

  private func onSecrets(_ work: () throws(SecretStoreError) -> Void) throws(SessionError) {
    do throws(SecretStoreError) { try work() } catch { throw .secrets(error) }
  }
}

/// The end of a journal whose session goes on at another place (`Specs/Moving.md`).
private enum MovedRecord {
  /// Returns its two records, which are one batch.
  static func drafts(at time: Timestamp) -> [JournalDraft] {
    [SessionRecord.movedGuardKind, SessionRecord.movedKind].map { kind in
      var payload = PayloadWriter()
      payload.write(time)
      payload.write(UInt8(1))
      return JournalDraft(kind: kind, payload: payload.finished())
    }
  }
}
