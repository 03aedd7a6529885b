public import Foundation
import SessionChanges
@_spi(Internals) public import SessionCore
public import SessionHTTP
import SessionJournal
public import SessionKit

/// Something that an app may show to its user: what happened, and what to do about it.
///
/// The words for users are other ones than those for developers (`description`): they name no path,
/// no status, no code of a server and no member of an answer, and hold nothing that was entered.
///
/// - Requirement: LOG-8
public protocol UserFacing: Sendable {
  /// What is said, whatever the language.
  var message: SessionMessage { get }
}

extension UserFacing {
  /// What the app should do.
  public var advice: SessionAdvice { message.advice }

  /// What happened and what to do, for the user, in one or two sentences or three.
  public func text(in language: SessionLanguage = .preferred) -> String {
    message.text(in: language)
  }
}

/// An error that an app may show to its user.
///
/// In an app that links this module, `localizedDescription` and `recoverySuggestion` of these errors are in
/// ``SessionLanguage/preferred``.
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
