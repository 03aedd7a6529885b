@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Formats a snapshot as one line.
enum SnapshotFormatter {
  /// Returns `of records 1…412: authenticated u-7 with tok#9`; `last` is the snapshot's own
  /// sequence.
  static func text(_ fold: SessionFold, through last: UInt64) -> String {
    let state = StateDescription(fold)
    var parts = [session(state)]
    if let request = state.intents.request {
      parts.append("\(NoteFormatter.request(request.sent.kind)) of @\(request.sequence) open")
    }
    if !state.intents.revocations.isEmpty {
      let tokens = state.intents.revocations.map(\.description).joined(separator: ", ")
      parts.append("\(tokens) to be revoked")
    }
    return "of records 1…\(last): \(parts.joined(separator: "; "))"
  }

  private static func session(_ state: StateDescription) -> String {
    var text = state.kind.description
    if let user = state.user { text += " \(user.description.printable)" }
    if let token = state.token {
      text += " with \(token.generation)"
    } else if state.user == nil, state.newest != .none {
      text += ", the newest token was \(state.newest)"
    }
    if let failed = state.failures?.total, failed > 0 {
      text += ", \(failed.grouped) failed in a row"
    }
    if let reason = state.reason { text += ", \(EventFormatter.reason(reason))" }
    return text
  }
}
