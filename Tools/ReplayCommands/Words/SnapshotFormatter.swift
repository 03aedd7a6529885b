@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Formats a snapshot as one line.
enum SnapshotFormatter {
  /// Returns `of records 1…412: authenticated u-7 with tok#9`; `last` is the snapshot's own
  /// sequence.
  static func text(_ fold: SessionFold, through last: UInt64) -> String {
    var parts = [state(fold)]
    if let request = fold.intents.request {
      parts.append("\(NoteFormatter.request(request.sent.kind)) of @\(request.sequence) open")
    }
    if !fold.intents.revocations.isEmpty {
      let tokens = fold.intents.revocations.map(\.description).joined(separator: ", ")
      parts.append("\(tokens) to be revoked")
    }
    return "of records 1…\(last): \(parts.joined(separator: "; "))"
  }

  private static func state(_ fold: SessionFold) -> String {
    switch fold.state {
    case .unauthenticated:
      return fold.generation == .none
        ? "unauthenticated" : "unauthenticated, the newest token was \(fold.generation)"
    case .authenticated(let session):
      let failed = session.failures.total
      return "authenticated \(session.user.description.printable) with \(session.token.generation)"
        + (failed == 0 ? "" : ", \(failed.grouped) failed in a row")
    case .expired(let session):
      return
        "expired \(session.user.description.printable), \(EventFormatter.reason(session.reason))"
    }
  }
}
