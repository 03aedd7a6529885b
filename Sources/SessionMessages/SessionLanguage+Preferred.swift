import Foundation
@_spi(Internals) public import SessionCore

extension SessionLanguage {
  /// The language in which the app runs, or else the user's first preferred language.
  public static var preferred: SessionLanguage {
    SessionLanguage(preferring: Bundle.main.preferredLocalizations + Locale.preferredLanguages)
  }
}
