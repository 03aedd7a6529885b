/// A count of consecutive requests that may have ended the process that sent them.
///
/// An opening of the journal found each of them without an end. It noted in its own batch that no
/// reply came. A response that crashes the process would do so at every attempt. On Linux
/// `URLSession` has two such bugs (`Specs/URLSession.md`).
package struct EndedProcesses: Hashable, Sendable {
  /// The number since the last token, or since the last attempt whose process survived.
  package private(set) var count: UInt32 = 0
  private var isOpening = false

  /// Creates a count of zero.
  package init() {}

  /// Counts the next record; `isLast` says that it ends its batch.
  package mutating func take(_ content: SessionRecord.Content, isLast: Bool) {
    switch content {
    case .note(let note): take(kind: note.kind.rawValue, isLast: isLast)
    case .event(.refreshFailed(let failed)) where isOpening && failed.isLost:
      count = count == .max ? .max : count + 1
      end(isLast)
    case .event(let event): take(kind: event.kind.rawValue, isLast: isLast)
    case .snapshot, .unknown: end(isLast)
    }
  }

  /// Counts a record by its kind alone; it must not be a failed refresh.
  package mutating func take(kind: UInt8, isLast: Bool) {
    if kind == SessionNote.Kind.opened.rawValue { isOpening = true }
    if SessionEvent.Kind(rawValue: kind) != nil { count = 0 }
    end(isLast)
  }

  private mutating func end(_ isLast: Bool) {
    if isLast { isOpening = false }
  }
}

extension SessionEvent.RefreshFailed {
  /// Whether the request's outcome is unknown.
  var isLost: Bool { failure.kind == .noReply && failure.status == 0 && request != 0 }
}
