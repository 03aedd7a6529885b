import Foundation
@_spi(Internals) public import SessionCore

extension SessionLanguage {
  /// The language that the app speaks with its user, else the one that the user likes best.
  public static var preferred: SessionLanguage {
    SessionLanguage(preferring: Bundle.main.preferredLocalizations + Locale.preferredLanguages)
  }
}
