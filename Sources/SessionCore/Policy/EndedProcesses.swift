/// How many requests in a row may have ended the process that sent them.
///
/// An opening of the journal found each of them without an end, and noted in its own batch that no reply
/// came. A response that makes the process crash would do so at every attempt: on Linux `URLSession` has two
/// such bugs (`Specs/URLSession.md`).
package struct EndedProcesses: Hashable, Sendable {
  /// The number, since the last token or the last attempt whose process lived on.
  package private(set) var count: UInt32 = 0
  private var isOpening = false

  /// None.
  package init() {}

  /// Takes in the next record; `isLast` says that it ends its batch.
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

  /// The same of a record whose kind says enough: any but a failed refresh.
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
  /// Whether nothing is known of the answer to its request.
  var isLost: Bool { failure.kind == .noReply && failure.status == 0 && request != 0 }
}
