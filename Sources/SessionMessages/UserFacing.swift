public import Foundation
public import SessionCore

/// Something that an app may show to its user: what happened, and what to do about it (LOG-8).
///
/// The words for users are other ones than those for developers (`description`): they name no path,
/// no status, no code of a server and no member of an answer, and hold nothing that was entered.
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
/// `localizedDescription` and `errorDescription` say what happened, `recoverySuggestion` what to do,
/// both in ``SessionLanguage/preferred``.
public protocol UserFacingError: UserFacing, LocalizedError {}

extension UserFacingError {
  /// What happened.
  public var errorDescription: String? { message.problem(in: .preferred) }

  /// What to do; `nil` where nothing is to be done.
  public var recoverySuggestion: String? {
    let advice = advice.text()
    return advice.isEmpty ? nil : advice
  }

  /// Always `nil`: why it happened is for developers, in `description`.
  public var failureReason: String? { nil }

  /// Always `nil`: there is no book of help.
  public var helpAnchor: String? { nil }
}
