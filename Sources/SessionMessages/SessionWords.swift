@_spi(Internals) public import SessionCore
public import SessionKit

/// Texts of an app that replace the library's texts for users.
///
/// Such a text is shown unchanged. The advice that the library adds to its own texts does not
/// follow it.
///
/// - Requirement: LOG-8
public struct SessionWords: Hashable, Sendable {
  // A replacement is shown without the library's advice, since such a text contains its own.
  private var texts: [SessionLanguage: [SessionMessage: String]] = [:]

  /// No replacements.
  public static let standard = SessionWords()

  /// Creates a collection without replacements.
  public init() {}

  /// The replacement for a message in a language; `nil` for the library's text.
  public subscript(message: SessionMessage, language: SessionLanguage) -> String? {
    get { texts[language]?[message] }
    set { texts[language, default: [:]][message] = newValue }
  }

  /// Returns the text for a user: the replacement if there is one, else the library's text with its
  /// advice.
  public func text(
    of value: any UserFacing, in language: SessionLanguage = .preferred
  ) -> String {
    self[value.message, language] ?? value.text(in: language)
  }
}

extension SessionConfiguration {
  /// The app's own texts for its users, which ``Session/text(of:in:)`` uses; none by default.
  ///
  /// - Requirement: LOG-8
  public var words: SessionWords {
    get { attached[SessionWords.self] ?? .standard }
    set { attached[SessionWords.self] = newValue }
  }
}

extension Session {
  /// Returns the text of an error, a reason or an outcome for a user.
  ///
  /// It is the app's own text (``SessionConfiguration/words``) if there is one, else the library's.
  public func text(of value: any UserFacing, in language: SessionLanguage = .preferred) -> String {
    configuration.words.text(of: value, in: language)
  }
}
