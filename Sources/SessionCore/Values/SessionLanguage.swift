/// A language of the library's messages to users.
///
/// - Requirement: LOG-8
public enum SessionLanguage: String, CaseIterable, Sendable {
  /// English.
  case english = "en"
  /// Spanish, addressing the user as `tú`.
  case spanish = "es"
  /// Portuguese, as it is written in Brazil.
  case portuguese = "pt"

  /// Chooses the first preferred language that is supported, or English.
  ///
  /// The tags are those of BCP 47, the most preferred first: `pt-BR`, `es_419`.
  public init(preferring tags: [String]) {
    let languages = tags.compactMap { tag in
      let first = tag.prefix { $0 != "-" && $0 != "_" }
      return SessionLanguage(rawValue: first.lowercased())
    }
    self = languages.first ?? .english
  }
}
