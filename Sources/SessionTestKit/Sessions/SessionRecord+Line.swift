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
    case .opened, .tailCut: return kind.description
    case .requestSent(let sent): return "requestSent \(sent.kind) \(sent.generation)"
    case .revocationSettled(let settled):
      return "\(kind) \(settled.generation), \(settled.outcome)"
    case .continued(let link): return "\(kind) \(link.cause), \(link.sequence)"
    case .storageFailed(let failed):
      return "\(kind) \(failed.operation) \(failed.item), \(failed.cause) \(failed.number)"
    case .storageRecovered(let recovered):
      return "\(kind) \(recovered.operation) \(recovered.item)"
    default:
      var fields = LineFields()
      visit(&fields)
      let values = fields.values.joined(separator: ", ")
      return values.isEmpty ? kind.description : "\(kind) \(values)"
    }
  }
}

/// The values of a note's fields that matter to the order of events.
private struct LineFields: FieldSearch {
  private(set) var values: [String] = []

  mutating func visit(_: FieldName, code: some OpenEnum) { values.append(code.word) }
  mutating func visit(_: FieldName, reason: some OpenEnum) { values.append(reason.word) }
  mutating func visit(_: FieldName, number: some FixedWidthInteger) { values.append("\(number)") }
  mutating func visit(_: FieldName, sequence: UInt64) { values.append("\(sequence)") }
  mutating func visit(_: FieldName, generation: Generation) { values.append("\(generation)") }
  mutating func visit(_: FieldName, failure: RequestFailure) { values.append("\(failure)") }
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
