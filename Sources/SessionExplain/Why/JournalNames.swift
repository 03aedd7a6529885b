@_spi(Internals) package import SessionCore

/// The names of a journal that its explanations show: its identifier, and pseudonyms of users.
package struct JournalNames: Sendable {
  /// The identifier; `nil` if it is not known.
  package let journal: String?
  private let pseudonyms: Pseudonyms?
  /// Whether the journal's own records have pseudonyms.
  private let isRedacted: Bool

  /// Creates names; without pseudonyms, no user is named.
  package init(journal: Identifier? = nil, pseudonyms: Pseudonyms? = nil) {
    self.journal = journal?.description
    self.pseudonyms = pseudonyms
    // A redacted journal has a UUID of version 8, which no other journal has.
    isRedacted = journal?.uuid.map { $0.high >> 12 & 0xF == 8 } ?? false
  }

  /// Returns the pseudonym of a user; `nil` without pseudonyms.
  ///
  /// A user of a redacted journal keeps its pseudonym, so that all answers name the same one.
  func user(_ id: Identifier) -> String? {
    let text = id.description
    if isRedacted, Pseudonyms.isName(.user, text) { return text }
    return pseudonyms?.name(.user, text)
  }
}
