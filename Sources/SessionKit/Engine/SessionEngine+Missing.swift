import SessionCore
import SessionJournal

/// Waits for a journal that is missing although its secrets are stored, before a new one replaces
/// it.
///
/// - Requirement: RES-7
extension SessionEngine {
  /// Waits while a journal that stored secrets name is missing, at most for the time of
  /// `AbsenceDoubt`.
  ///
  /// A disk that is not mounted yet, or a folder that is missing for a moment, must not end a
  /// session. With a new journal, the secrets would count as those of a lost journal and would be
  /// removed.
  static func awaitJournal(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    async throws(SessionError)
  {
    let clock = configuration.clock
    for pause in AbsenceDoubt.repetitions {
      let mustWait = try await runtime.result { () throws(SessionError) -> Bool in
        isMissed(configuration)
      }
      guard mustWait else { return }
      do { try await clock.sleep(untilUptime: clock.now().uptime.addingSaturating(pause)) } catch {
        throw .cancelled
      }
    }
  }

  /// Returns whether secrets are stored whose journal should be at our path but is not.
  private static func isMissed(_ configuration: SessionConfiguration) -> Bool {
    switch configuration.place.findLog() {
    case .present: return false
    case .unknown(let problem): guard problem.isOfMissingFile else { return false }
    case .absent: break
    }
    do throws(SecretStoreError) {
      // An expired session has no token item, and a logout may leave only what it revokes.
      let named = [
        try isOfOwnPlace(StoredToken.self, configuration),
        try isOfOwnPlace(StoredUser.self, configuration),
        try isOfOwnPlace(StoredRevocations.self, configuration),
      ]
      guard named.contains(true) else { return false }
      // After a journal was moved aside, the next opening creates a new one in its place.
      return configuration.place.quarantine?.hasSetAside != true
    } catch {
      return false
    }
  }

  /// Returns whether an item is stored that names our own path.
  private static func isOfOwnPlace<Item: LocatedItem>(
    _: Item.Type, _ configuration: SessionConfiguration
  ) throws(SecretStoreError) -> Bool {
    guard let bytes = try configuration.secrets.read(Item.item) else { return false }
    let stored: Item
    do throws(StoredItemError) { stored = try Item(decoding: bytes) } catch { return false }
    return stored.journalPath.map { configuration.place.isNamed($0) } ?? false
  }
}
