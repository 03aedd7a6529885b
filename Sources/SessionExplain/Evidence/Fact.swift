@_spi(Internals) package import SessionCore

/// A record that is kept as evidence, without parts that no explanation needs.
///
/// Its parts are shared: evidence has dozens of records, and is copied for each end.
package struct Fact: Hashable, Sendable, CustomDebugStringConvertible {
  private final class Parts: Sendable {
    let record: SessionRecord
    let batch: UInt64

    init(_ record: SessionRecord, _ batch: UInt64) { (self.record, self.batch) = (record, batch) }
  }

  private let parts: Parts

  package var record: SessionRecord { parts.record }
  /// The sequence of the first record of its batch.
  package var batch: UInt64 { parts.batch }

  package var sequence: UInt64 { parts.record.sequence }
  package var time: Timestamp { parts.record.time }

  init(_ record: SessionRecord, batch: UInt64) { parts = Parts(record.lean, batch) }

  package static func == (one: Fact, other: Fact) -> Bool {
    one.parts === other.parts || one.record == other.record && one.batch == other.batch
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(record)
    hasher.combine(batch)
  }

  package var debugDescription: String { "\(record) of the batch \(batch)" }

  package var event: SessionEvent? { record.event }

  package var note: SessionNote? {
    guard case .note(let note) = record.content else { return nil }
    return note
  }

  var refreshFailed: SessionEvent.RefreshFailed? {
    guard case .refreshFailed(let failed)? = event else { return nil }
    return failed
  }

  var requestSent: SessionNote.RequestSent? {
    guard case .requestSent(let sent)? = note else { return nil }
    return sent
  }

  var answerDropped: SessionNote.AnswerDropped? {
    guard case .answerDropped(let dropped)? = note else { return nil }
    return dropped
  }

  var opened: SessionNote.Opened? {
    guard case .opened(let opened)? = note else { return nil }
    return opened
  }

  var expiry: ExpiryReason? {
    guard case .sessionExpired(let expiry)? = event else { return nil }
    return expiry.reason
  }

  var logout: LogoutReason? {
    guard case .logout(let logout)? = event else { return nil }
    return logout.reason
  }

  var isLogin: Bool { event?.kind == .login }

  /// Whether the record ends a session.
  var isEnd: Bool { event?.kind == .sessionExpired || event?.kind == .logout }

  /// Whether the record can be a reason for a decision in its batch.
  var isDecisive: Bool { event != nil || isOfStorage || recovered != nil }

  /// The generation of the token whose missing event was restored; the event follows.
  var recovered: Generation? {
    guard case .tokenRecovered(let generation)? = note else { return nil }
    return generation
  }

  var revocationSettled: SessionNote.RevocationSettled? {
    guard case .revocationSettled(let settled)? = note else { return nil }
    return settled
  }

  /// The failure in the record, of a refresh or of another request.
  var failure: RequestFailure? { record.content.failure }

  /// The sequence of the request that the record ends; `nil` if it ends none.
  var answers: UInt64? { record.content.answers }
}

extension SessionRecord.Content {
  var failure: RequestFailure? {
    switch self {
    case .event(.refreshFailed(let refresh)): refresh.failure
    case .note(.requestEnded(let ended)): ended.failure
    case .event, .note, .snapshot, .unknown: nil
    }
  }

  var answers: UInt64? {
    let number: UInt64 =
      switch self {
      case .event(.refreshSucceeded(let refresh)): refresh.request
      case .event(.refreshFailed(let refresh)): refresh.request
      case .event(.contextSwitched(let change)): change.request
      case .note(.requestEnded(let ended)): ended.request
      case .note(.answerUnused(let request)): request
      case .event, .note, .snapshot, .unknown: 0
      }
    return number == 0 ? nil : number
  }
}

extension Fact {
  /// Whether the record says that a stored item was not as expected.
  var isOfStorage: Bool {
    switch note {
    case .tailCut, .itemUnreadable, .answerDropped: true
    default: false
    }
  }

  /// Whether the record can be explained on its own.
  var isExplainable: Bool {
    switch record.content {
    case .event(let event):
      switch event {
      case .refreshFailed, .sessionExpired, .logout: true
      case .login, .refreshSucceeded, .contextSwitched: false
      }
    case .note(let note):
      switch note {
      case .requestEnded, .tokenRecovered, .revocationPending, .revocationSettled, .secretsWiped,
        .itemUnreadable, .tailCut, .continued, .storageFailed, .answerDropped,
        .answerUnused:
        true
      default: false
      }
    case .snapshot, .unknown: false
    }
  }
}

extension SessionRecord {
  /// The record without permissions, profiles of newer versions and very long texts.
  ///
  /// Evidence must not grow with the data that a server sent.
  fileprivate var lean: SessionRecord {
    SessionRecord(
      sequence: sequence, time: time, content: content.lean, hasUnknownFields: hasUnknownFields)
  }
}

extension SessionRecord.Content {
  fileprivate var lean: SessionRecord.Content {
    switch self {
    case .event(let event): .event(event.lean)
    case .note: self
    case .snapshot: .unknown(SessionRecord.Unknown(kind: SessionRecord.snapshotKind, payload: []))
    case .unknown(let unknown): .unknown(SessionRecord.Unknown(kind: unknown.kind, payload: []))
    }
  }
}

extension SessionEvent {
  fileprivate var lean: SessionEvent {
    switch self {
    case .login(let login):
      return .login(
        Login(user: login.user.lean, method: login.method, token: login.token.lean, context: nil))
    case .refreshSucceeded(let refresh):
      return .refreshSucceeded(
        RefreshSucceeded(
          token: refresh.token.lean, trigger: refresh.trigger, attempt: refresh.attempt,
          isRotated: refresh.isRotated, request: refresh.request))
    case .contextSwitched(let change):
      let role = ActiveContext.Named(
        id: change.context.role.id.lean, name: change.context.role.name.short)
      return .contextSwitched(
        ContextSwitched(
          context: ActiveContext(role: role), token: change.token?.lean, trigger: change.trigger,
          request: change.request))
    case .refreshFailed, .sessionExpired, .logout:
      return self
    }
  }
}

extension TokenMetadata {
  var lean: TokenMetadata {
    TokenMetadata(
      generation: generation, issuedAt: issuedAt, expiresAt: expiresAt, id: id?.lean,
      isRefreshable: isRefreshable)
  }
}

extension Identifier {
  fileprivate var lean: Identifier { uuid == nil ? Identifier(description.short) : self }
}

extension String {
  /// The text, cut to 64 characters of at most four bytes each.
  fileprivate var short: String {
    guard utf8.count > 64 else { return self }
    var text = ""
    for scalar in unicodeScalars.prefix(63) { text.unicodeScalars.append(scalar) }
    return text + "…"
  }
}
