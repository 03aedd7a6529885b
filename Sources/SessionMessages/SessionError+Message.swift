public import SessionChanges
@_spi(Internals) public import SessionCore
public import SessionJournal
public import SessionKit

extension SessionError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { userMessage() }
}

extension SessionAdvice {
  /// Returns the advice as a sentence for the user; empty for `nothing`.
  public func text(in language: SessionLanguage = .preferred) -> String {
    switch language {
    case .english: inEnglish
    case .spanish: inSpanish
    case .portuguese: inPortuguese
    }
  }
}

extension WebSignInProblem: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { userMessage() }
}

extension ChangeLogError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { userMessage() }
}

extension SyncGateClosed: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { userMessage() }
}

extension JournalError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { userMessage() }
}

extension SecretStoreError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { userMessage() }
}
