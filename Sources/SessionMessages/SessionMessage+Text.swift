import Foundation
public import SessionCore
public import SessionKit

extension SessionMessage {
  /// Returns what happened, without the advice.
  public func problem(in language: SessionLanguage = .preferred) -> String {
    switch language {
    case .english: english.problem
    case .spanish: inSpanish
    case .portuguese: inPortuguese
    }
  }

  /// Returns what happened, followed by the advice.
  public func text(in language: SessionLanguage = .preferred) -> String {
    let advice = advice.text(in: language)
    return advice.isEmpty ? problem(in: language) : problem(in: language) + " " + advice
  }
}

extension SessionMessage: TranslatedMessage {
  package var translatedProblem: String { problem(in: .preferred) }
  package var translatedAdvice: String { advice.text(in: .preferred) }
}

extension UserFacing {
  /// Returns what happened and what to do, in one to three sentences for the user.
  public func text(in language: SessionLanguage = .preferred) -> String {
    message.text(in: language)
  }
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

extension SessionLanguage {
  /// The language in which the app runs, or else the user's first preferred language.
  public static var preferred: SessionLanguage {
    SessionLanguage(preferring: Bundle.main.preferredLocalizations + Locale.preferredLanguages)
  }
}
