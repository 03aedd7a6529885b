@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Selects records by the reason that they give for an end or a failure.
struct ReasonFilter: Equatable, Sendable {
  private let kinds = ReasonKinds()
  private var search = ReasonSearch()

  /// All reasons that this version knows; in addition, a filter accepts codes of servers.
  static let known: [String] = {
    var seen: Set<String> = []
    let all =
      ExpiryReason.words + LogoutReason.words + RequestFailure.Kind.words
      + SessionNote.WipeCause.words + RevocationOutcome.words + SessionNote.ContinuationCause.words
      + StorageCause.words
    return all.filter { seen.insert($0).inserted }
  }()

  /// Parses words that are separated by commas: reasons, or codes of a server.
  ///
  /// A word that is no reason is a server's code if it is spelled like one (``isCode(_:)``). Any
  /// other word is rejected, and so is a word of letters alone that is almost a reason.
  init(_ text: String) throws(ToolError) {
    for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      let isKnown =
        Self.known.contains { $0.lowercased() == word.lowercased() }
        || RequestFailure.standardCodes.contains(word)
      let isCode = Self.isCode(word)
      let isPlain = word.contains(where: \.isLowercase) && word.allSatisfy(\.isLetter)
      let near =
        isKnown || isCode && !isPlain ? nil : Suggestion.nearest(to: word, in: Self.known)
      guard isKnown || isCode && near == nil else {
        throw .usage(
          .badReason, "There is no reason '\(word.shortened)'.",
          next: near.map { "--reason \($0)" }
            ?? "one of \(Self.known.joined(separator: ", ")); or a server's code")
      }
      search.words.insert(word.lowercased())
    }
  }

  /// Whether a word is spelled like a server's code.
  ///
  /// It has at most 64 of `A–Z a–z 0–9 _ - .`, and not lower-case letters alone.
  private static func isCode(_ word: String) -> Bool {
    (1...64).contains(word.utf8.count) && !word.allSatisfy(\.isLowercase)
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  func includes(_ content: SessionRecord.Content) -> Bool {
    switch content {
    case .event(let event):
      guard kinds.contains(event.kind.rawValue) else { return false }
      var search = search
      event.visit(&search)
      return search.isFound
    case .note(let note):
      guard kinds.contains(note.kind.rawValue) else { return false }
      var search = search
      note.visit(&search)
      return search.isFound
    case .snapshot, .unknown: return false
    }
  }
}

/// The kinds of records that have a reason or a failure.
///
/// Most records have none. A visit of each would take a sixth of the time of `timeline --reason`.
private struct ReasonKinds: Equatable, Sendable {
  // A bit for each kind: events have bytes below 64, notes have bytes from 128 to 191.
  private var events: UInt64 = 0
  private var notes: UInt64 = 0

  init() {
    for kind in SessionEvent.Kind.allCases {
      var search = ReasonSearch()
      SessionEvent.blank(kind).visit(&search)
      if search.isAsked { events |= 1 << UInt64(kind.rawValue) }
    }
    for kind in SessionNote.Kind.allCases {
      var search = ReasonSearch()
      SessionNote.blank(kind).visit(&search)
      if search.isAsked { notes |= 1 << UInt64(kind.rawValue - 128) }
    }
  }

  /// Whether records with this byte have a reason or a failure.
  func contains(_ byte: UInt8) -> Bool {
    byte < 128 ? events & (1 << UInt64(byte)) != 0 : notes & (1 << UInt64(byte - 128)) != 0
  }
}

/// Looks for one of the words in the reasons and failures of a record.
private struct ReasonSearch: FieldSearch, Equatable, Sendable {
  /// The words in lower case.
  var words: Set<String> = []
  private(set) var isFound = false

  /// Whether the record has a reason or a failure at all.
  private(set) var isAsked = false

  mutating func visit(_: FieldName, reason: some OpenEnum) { look(reason.word) }

  mutating func visit(_: FieldName, failure: RequestFailure) {
    look(failure.kind.description)
    if let code = failure.serverCode { look(code) }
  }

  private mutating func look(_ word: String) {
    isAsked = true
    isFound = isFound || words.contains(word.lowercased())
  }
}
