public import Foundation
@_spi(Internals) public import SessionCore
public import SessionJournal

/// An error with a text for users.
package protocol WordedError: LocalizedError {
  /// The text for users, in English.
  var text: ErrorText { get }
}

/// An error with texts in the languages of the app's users.
///
/// SessionMessages adds the conformances, if it is linked.
package protocol TranslatedError {
  /// What happened, in the language of the app.
  var translatedProblem: String { get }
  /// What to do, in the language of the app; `nil` if nothing has to be done.
  var translatedSuggestion: String? { get }
}

extension WordedError {
  /// What happened: in the language of the app if SessionMessages is linked, else in English.
  package var spokenProblem: String {
    (self as? any TranslatedError)?.translatedProblem ?? text.problem
  }

  /// What to do: in the language of the app if SessionMessages is linked, else in English.
  package var spokenSuggestion: String? {
    guard let translated = self as? any TranslatedError else { return text.suggestion }
    return translated.translatedSuggestion
  }
}

// `localizedDescription` of an error that a session throws is for users, and `description` is for
// developers.

extension SessionError: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension SecretStoreError: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension JournalError: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension CredentialRules.Problem: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension WebSignInProblem: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension SessionRejection: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

// Users do not see these errors, so the texts are those of `description`.

extension CodecError: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension PayloadFold.Failure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension SessionFold.Failure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension JournalFlaw: LocalizedError {
  /// The same as the explanation.
  public var errorDescription: String? { explanation }
}

extension CompactedEvents: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
