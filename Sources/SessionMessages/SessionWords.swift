@_spi(Internals) public import SessionCore
public import SessionKit

/// Texts that an app has fixed for its users, in place of the library's.
///
/// A fixed text is shown as it is: the advice that the library adds to its own texts does not follow.
///
/// - Requirement: LOG-8
public struct SessionWords: Hashable, Sendable {
  private var texts: [SessionLanguage: [SessionMessage: String]] = [:]

  /// No text is fixed.
  public static let standard = SessionWords()

  /// No text is fixed.
  public init() {}

  /// The fixed text of a message in a language; `nil` for the library's.
  public subscript(message: SessionMessage, language: SessionLanguage) -> String? {
    get { texts[language]?[message] }
    set { texts[language, default: [:]][message] = newValue }
  }

  /// The text for a user: the fixed one, or else the library's with its advice.
  public func text(
    of value: any UserFacing, in language: SessionLanguage = .preferred
  ) -> String {
    self[value.message, language] ?? value.text(in: language)
  }
}

extension SessionConfiguration {
  /// Texts of the app's own for its users, used by ``Session/text(of:in:)``; none if not said.
  ///
  /// - Requirement: LOG-8
  public var words: SessionWords {
    get { attached[SessionWords.self] ?? .standard }
    set { attached[SessionWords.self] = newValue }
  }
}

extension Session {
  /// The text of an error, a reason or an outcome for a user: the app's own if it has fixed one
  /// (``SessionConfiguration/words``), else the library's.
  public func text(of value: any UserFacing, in language: SessionLanguage = .preferred) -> String {
    configuration.words.text(of: value, in: language)
  }
}
