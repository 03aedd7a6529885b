@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The fold of a journal's records up to one of them.
struct StateSnapshot: Equatable, Sendable {
  private(set) var fold = SessionFold()
  /// The time of its last record.
  private(set) var time: Timestamp?

  init(_ fold: SessionFold = SessionFold(), at time: Timestamp? = nil) {
    self.fold = fold
    self.time = time
  }

  mutating func apply(_ record: SessionRecord) throws(SessionFold.Failure) {
    try fold.apply(record)
    time = record.time
  }

  /// Returns one JSON object, with every field in every state.
  func json(journal: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("journal", journal)
      json.field("sequence", fold.sequence)
      json.field("eventSequence", fold.eventSequence)
      json.field("time", time)
      json.field("state", fold.state.kind.description)
      json.field("user", fold.state.user?.description)
      writeSession(&json)
      json.field("generation", fold.generation.number)
      json.object("intents") { $0.intents(fold.intents) }
    }
    return json.text + "\n"
  }

  private func writeSession(_ json: inout JSONWriter) {
    switch fold.state {
    case .unauthenticated:
      fields(&json)
    case .authenticated(let session):
      fields(
        &json, method: session.method, since: session.since, context: session.context,
        token: session.token, failures: session.failures)
    case .expired(let session):
      fields(&json, since: session.since, reason: session.reason, context: session.context)
    }
  }

  private func fields(
    _ json: inout JSONWriter, method: LoginMethod? = nil, since: Timestamp? = nil,
    reason: ExpiryReason? = nil, context: ActiveContext? = nil, token: TokenMetadata? = nil,
    failures: SessionState.RefreshFailures? = nil
  ) {
    json.field("method", method?.description)
    json.field("since", since)
    json.field("reason", reason?.description)
    json.context("context", context)
    json.token("token", token)
    guard let failures else { return json.null("failures") }
    json.object("failures") { json in
      json.field("total", failures.total)
      json.field("answered", failures.answered)
      json.failure("last", failures.last)
    }
  }
}
