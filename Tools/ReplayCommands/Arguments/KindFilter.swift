internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Selects records by kind.
struct KindFilter: Equatable, Sendable {
  /// For each kind byte, whether that kind is selected.
  private var kinds = [Bool](repeating: false, count: 256)
  private var hasSnapshot = false
  private var hasUnknown = false

  static let classes = [LineClass.event, .note, .change, .snapshot, .unknown].map(\.rawValue)
  private static let names =
    SessionEvent.Kind.allCases.map(\.description) + SessionNote.Kind.allCases.map(\.description)
    + ChangeEvent.Kind.allCases.map(\.description)

  /// All words that a filter accepts, as text.
  static var words: String { known.joined(separator: ", ") }

  /// All words that a filter accepts, classes first.
  static let known = classes + names

  /// Parses names of kinds and classes, separated by commas; errors name `option`.
  init(_ text: String, of option: String = "--kind") throws(ToolError) {
    for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      if let kind = SessionEvent.Kind.allCases.first(where: { $0.description == word }) {
        kinds[Int(kind.rawValue)] = true
      } else if let kind = SessionNote.Kind.allCases.first(where: { $0.description == word }) {
        kinds[Int(kind.rawValue)] = true
      } else if let kind = ChangeEvent.Kind.allCases.first(where: { $0.description == word }) {
        kinds[Int(kind.rawValue)] = true
      } else if word == "change" {
        for kind in ChangeEvent.Kind.allCases { kinds[Int(kind.rawValue)] = true }
      } else if word == "event" {
        for kind in SessionEvent.Kind.allCases { kinds[Int(kind.rawValue)] = true }
      } else if word == "note" {
        for kind in SessionNote.Kind.allCases { kinds[Int(kind.rawValue)] = true }
      } else if word == "snapshot" {
        hasSnapshot = true
      } else if word == "unknown" {
        hasUnknown = true
      } else {
        let near = Suggestion.nearest(to: word, in: Self.known)
        throw .usage(
          .badKind, "There is no kind '\(word.shortened)'.",
          next: near.map { "\(option) \($0)" } ?? "one of \(Self.words)")
      }
    }
  }

  /// Whether a record with this kind byte may be included; what it says decides.
  func mayInclude(kind: UInt8) -> Bool {
    if kinds[Int(kind)] { return true }
    if kind == SessionRecord.snapshotKind { return hasSnapshot || hasUnknown }
    return hasUnknown && SessionEvent.Kind(rawValue: kind) == nil
      && SessionNote.Kind(rawValue: kind) == nil
  }

  func includes(_ content: SessionRecord.Content) -> Bool {
    switch content {
    case .event(let event): kinds[Int(event.kind.rawValue)]
    case .note(let note): kinds[Int(note.kind.rawValue)]
    case .snapshot: hasSnapshot
    case .unknown(let unknown):
      kinds[Int(unknown.kind)]
        || (hasUnknown && ChangeEvent.Kind(rawValue: unknown.kind) == nil)
    }
  }
}
