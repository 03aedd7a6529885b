internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Selects records by kind.
struct KindFilter: Equatable, Sendable {
  /// For each kind byte, whether that kind is selected.
  private var kinds = [Bool](repeating: false, count: 256)
  private var hasSnapshot = false
  private var hasUnknown = false

  /// Every kind that a name selects, with its class.
  private static let named: [(name: String, kind: UInt8, of: LineClass)] =
    SessionEvent.Kind.allCases.map { ($0.description, $0.rawValue, .event) }
    + SessionNote.Kind.allCases.map { ($0.description, $0.rawValue, .note) }
    + ChangeEvent.Kind.allCases.map { ($0.description, $0.rawValue, .change) }
    + AccountCodec.names.map { ($0.name, $0.kind, .account) }

  static let classes =
    [LineClass.event, .note, .change, .account, .snapshot, .unknown].map(\.rawValue)

  /// All words that a filter accepts, as text.
  static var words: String { known.joined(separator: ", ") }

  /// All words that a filter accepts, classes first.
  static let known = classes + named.map(\.name)

  /// Parses names of kinds and classes, separated by commas; errors name `option`.
  init(_ text: String, of option: String = "--kind") throws(ToolError) {
    for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      let chosen = Self.named.filter { $0.name == word || $0.of.rawValue == word }
      for (_, kind, _) in chosen { kinds[Int(kind)] = true }
      if word == LineClass.snapshot.rawValue {
        hasSnapshot = true
      } else if word == LineClass.unknown.rawValue {
        hasUnknown = true
      } else if chosen.isEmpty {
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
        || (hasUnknown && !Self.named.contains { $0.kind == unknown.kind })
    }
  }
}
