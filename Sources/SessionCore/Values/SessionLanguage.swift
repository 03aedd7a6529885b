/// A language that this library has words for users in.
///
/// - Requirement: LOG-8
public enum SessionLanguage: String, CaseIterable, Sendable {
  /// English.
  case english = "en"
  /// Spanish, addressing the user as `tú`.
  case spanish = "es"
  /// Portuguese, as it is written in Brazil.
  case portuguese = "pt"

  /// The first of these that there are words in, English where there is none.
  ///
  /// The tags are those of BCP 47, the one that is liked best first: `pt-BR`, `es_419`.
  public init(preferring tags: [String]) {
    let languages = tags.compactMap { tag in
      let first = tag.prefix { $0 != "-" && $0 != "_" }
      return SessionLanguage(rawValue: first.lowercased())
    }
    self = languages.first ?? .english
  }
}
