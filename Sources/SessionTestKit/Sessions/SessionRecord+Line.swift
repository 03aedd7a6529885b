@_spi(Internals) import SessionCore

// Lines that a failing run shows. Long texts are cut, since a reader needs the order of events
// first.

extension SessionRecord {
  package var line: String { "\(sequence)  \(content.line)" }
}

extension SessionRecord.Content {
  package var line: String {
    switch self {
    case .event(let event): event.line
    case .note(let note): "(\(note.line))"
    case .snapshot(let fold): "snapshot through \(fold.sequence), \(fold.state.line)"
    case .unknown(let unknown): "unknown(\(unknown.kind)), \(unknown.payload.count) bytes"
    }
  }
}

extension SessionEvent {
  package var line: String {
    switch self {
    case .login(let login): "login \(login.user.short) by \(login.method), \(login.token.line)"
    case .refreshSucceeded(let refresh): "refreshSucceeded \(refresh.token.line)"
    case .refreshFailed(let refresh):
      "refreshFailed \(refresh.generation), \(refresh.failure), request \(refresh.request)"
    case .contextSwitched(let change):
      "contextSwitched to \(change.context.role.id.short)"
        + (change.token.map { ", \($0.line)" } ?? "")
    case .sessionExpired(let expiry): "sessionExpired \(expiry.reason)"
    case .logout(let logout): "logout \(logout.reason)"
    }
  }
}

extension SessionNote {
  package var line: String {
    switch self {
    case .requestSent(let sent): "requestSent \(sent.kind) \(sent.generation)"
    case .requestEnded(let ended): "requestEnded \(ended.request), \(ended.failure)"
    case .tokenRecovered(let generation), .revocationPending(let generation):
      "\(kind) \(generation)"
    case .revocationSettled(let settled): "\(kind) \(settled.generation), \(settled.outcome)"
    case .secretsWiped(let cause): "\(kind) \(cause)"
    case .itemUnreadable(let item): "\(kind) \(item)"
    case .continued(let link): "\(kind) \(link.cause), \(link.sequence)"
    case .clockSkew(let milliseconds): "\(kind) \(milliseconds)"
    case .storageFailed(let failed):
      "\(kind) \(failed.operation) \(failed.item), \(failed.cause) \(failed.number)"
    case .storageRecovered(let recovered): "\(kind) \(recovered.operation) \(recovered.item)"
    case .answerDropped(let dropped): "\(kind) \(dropped.request), \(dropped.cause)"
    case .answerUnused(let request): "\(kind) \(request)"
    case .opened, .closed, .tailCut, .localDataCleared: kind.description
    }
  }
}

extension TokenMetadata {
  package var line: String { "\(generation)\(isRefreshable ? "" : ", not refreshable")" }
}

extension Identifier {
  /// At most 24 characters of the text, quoted if it has a space, a quote, or a character outside
  /// ASCII.
  package var short: String {
    let text = description
    let cut = text.count > 24 ? text.prefix(23) + "…" : text[...]
    let isPlain =
      !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    return isPlain ? String(cut) : String(reflecting: String(cut))
  }
}

extension SessionState {
  package var line: String {
    switch self {
    case .unauthenticated: "unauthenticated"
    case .authenticated(let session):
      "authenticated \(session.user.short), \(session.token.line)"
        + (session.failures.total == 0 ? "" : ", \(session.failures.total) failed")
    case .expired(let session): "expired \(session.user.short), \(session.reason)"
    }
  }
}
