public import Foundation
import SessionChanges
@_spi(Internals) public import SessionCore
public import SessionHTTP
import SessionJournal
public import SessionKit

/// A value that an app can show to its user: what happened and what to do.
///
/// The texts for users differ from those for developers (`description`). They contain no path, no
/// status, no code of a server, no member of a response, and no input.
///
/// - Requirement: LOG-8
public protocol UserFacing: Sendable {
  /// The message, independent of the language.
  var message: SessionMessage { get }
}

extension UserFacing {
  /// What the app should do.
  public var advice: SessionAdvice { message.advice }

  /// Returns what happened and what to do, in one to three sentences for the user.
  public func text(in language: SessionLanguage = .preferred) -> String {
    message.text(in: language)
  }
}

/// An error that an app may show to its user.
///
/// In an app that links this module, `localizedDescription` and `recoverySuggestion` of these errors are in
/// ``SessionCore/SessionLanguage/preferred``.
public protocol UserFacingError: UserFacing, LocalizedError {}

extension UserFacingError {
  package var translatedProblem: String { message.problem(in: .preferred) }

  package var translatedSuggestion: String? {
    let text = advice.text()
    return text.isEmpty ? nil : text
  }
}

extension SessionError: TranslatedError {}
extension SecretStoreError: TranslatedError {}
extension TransportError: TranslatedError {}
extension JournalError: TranslatedError {}
extension CredentialRules.Problem: TranslatedError {}
extension WebSignInProblem: TranslatedError {}
extension SessionRejection: TranslatedError {}
extension ChangeLogError: TranslatedError {}
extension SyncGateClosed: TranslatedError {}
