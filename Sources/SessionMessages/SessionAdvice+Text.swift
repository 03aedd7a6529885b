@_spi(Internals) public import SessionCore
public import SessionKit

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
