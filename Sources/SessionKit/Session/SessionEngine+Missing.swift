import SessionCore
import SessionJournal

/// A journal that is not found although its secrets are there: it is looked for again before another one
/// takes its place (RES-7).
extension SessionEngine {
  /// Waits while a journal is missing that stored secrets name; at most as long as an absence is doubted.
  ///
  /// A disk that is not mounted yet, or a folder that is missing for a moment, must not end a session: a
  /// new journal would make its secrets those of a lost one, to be wiped.
  static func awaitJournal(_ configuration: SessionConfiguration, _ runtime: SessionRuntime)
    async throws(SessionError)
  {
    let clock = configuration.clock
    for pause in [1_000, 3_000] as [Int64] {
      let mustWait = try await runtime.result { () throws(SessionError) -> Bool in
        isMissed(configuration)
      }
      guard mustWait else { return }
      do { try await clock.sleep(untilUptime: clock.now().uptime.addingSaturating(pause)) } catch {
        throw .cancelled
      }
    }
  }

  /// Whether secrets are stored whose journal should stand at our path, and does not.
  private static func isMissed(_ configuration: SessionConfiguration) -> Bool {
    let options = configuration.journalOptions
    switch Journal.presence(at: configuration.journal, options: options) {
    case .present: return false
    case .unknown(let problem): guard problem.isOfMissingFile else { return false }
    case .absent: break
    }
    do throws(SecretStoreError) {
      guard let bytes = try configuration.secrets.read(.token) else { return false }
      let stored: StoredToken
      do throws(StoredItemError) { stored = try StoredToken(decoding: bytes) } catch {
        return false
      }
      guard let path = stored.journalPath,
        SecretsPlace(path) == SecretsPlace(configuration.journal)
      else { return false }
      // One that was set aside has a new one in its place as soon as it is opened.
      return !isSetAside(configuration)
    } catch {
      return false
    }
  }

  private static func isSetAside(_ configuration: SessionConfiguration) -> Bool {
    do throws(JournalError) {
      return try Journal.lastSetAside(
        at: configuration.journal, options: configuration.journalOptions) != nil
    } catch {
      return false
    }
  }
}

extension JournalError {
  fileprivate var isOfMissingFile: Bool {
    switch self {
    case .missing, .folderMissing, .danglingLink: true
    default: false
    }
  }
}
