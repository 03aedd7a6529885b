import SessionCore
import SessionJournal

/// Whose the stored secrets are: two accounts must not share a place for them (RES-5).
///
/// The token item says where its journal stands. While that journal is there, nobody else reads, writes
/// or wipes what is stored beside it; once it is gone, the items are stray ones.
extension SessionEngine {
  /// The path of another journal that stands and whose session the stored secrets are; `nil` where they are
  /// nobody's, ours, or a lost journal's, or cannot be read.
  static func othersJournal(_ configuration: SessionConfiguration) -> String? {
    let stored: StoredToken
    do throws(SecretStoreError) {
      guard let bytes = try configuration.secrets.read(.token) else { return nil }
      do throws(StoredItemError) { stored = try StoredToken(decoding: bytes) } catch { return nil }
    } catch {
      return nil
    }
    let options = configuration.journalOptions
    guard let path = stored.fields.journalPath, path != configuration.journal,
      identifier(at: path, options) == stored.journal,
      identifier(at: configuration.journal, options) != stored.journal
    else { return nil }
    return path
  }

  private static func identifier(at path: String, _ options: Journal.Options) -> String? {
    do throws(JournalError) {
      return try JournalReader(path: path, fileSystem: options.fileSystem).identifier.description
    } catch {
      // Gone, or nothing that could be a session's.
      return nil
    }
  }

  /// Why the stored secrets are not for this session; `nil` if they are, or cannot be read.
  ///
  /// They are another session's, or of another backend (STO-6).
  static func foreignOwner(_ configuration: SessionConfiguration) -> SessionError? {
    if let path = othersJournal(configuration) { return .secretsOfAnotherSession(journal: path) }
    return configuration.binding.problem(in: configuration.secrets).map(SessionError.secrets)
  }

  var foreignOwner: SessionError? { Self.foreignOwner(configuration) }

  /// Items that could not be read at opening are not for this session: they stay unread.
  func lockOthersSecrets(_ facts: inout StoredFacts, _ problem: SecretStoreError?) {
    if case .otherBackend? = problem { commitError = problem.map(SessionError.secrets) }
    guard facts.token == .otherJournal, let owner = foreignOwner else { return }
    facts.isLocked = true
    commitError = owner
  }

  /// Another account has signed in to this place for secrets since we opened.
  func refuseOthersSecrets(before commit: SessionCommit) throws(SessionError) {
    guard case .login? = commit.announcement, let owner = foreignOwner else { return }
    throw owner
  }
}
