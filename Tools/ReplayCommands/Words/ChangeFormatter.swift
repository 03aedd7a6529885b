@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Formats a record of a change log for people; never shows what the user wrote.
enum ChangeFormatter {
  static func text(_ record: ChangeRecord) -> String {
    switch record.content {
    case .event(let event): text(event, at: record.time).printable
    case .snapshot(let queue): text(queue)
    }
  }

  private static func text(_ event: ChangeEvent, at time: Timestamp) -> String {
    switch event {
    case .added(let added):
      "\(added.change), by \(added.user), key \(added.change.key)"
    case .sent(let sent):
      "key \(sent.key), by process \(sent.process), others wait "
        + DurationFormatter.text(milliseconds: max(0, sent.deadline.milliseconds(since: time)))
    case .acknowledged(let key):
      "key \(key)"
    case .postponed(let postponed):
      "key \(postponed.key), again in "
        + DurationFormatter.text(
          milliseconds: max(0, postponed.retryAt.milliseconds(since: time)))
        + (postponed.isCounted ? "" : ", not counted") + reason(postponed.reason)
    case .givenUp(let end):
      "key \(end.key), \(cause(end.cause))\(reason(end.reason))"
    case .discarded(let discarded):
      (discarded.key.map { "key \($0)" } ?? "all that waits")
        + (discarded.cause == .logout ? ", behind a logout" : ", by the app")
    case .scopeChecked(let check):
      "\(check.scope.isEmpty ? "the scope without a name" : check.scope): the user's status changed at "
        + "\(check.statusChangedAt)"
    case .addedBy(let signIn):
      "what follows comes through \(signIn.generation) of the session \(signIn.journal)"
    case .leaving(let leaving):
      if let named = leaving.named {
        "the opening \(named.holder.opening) of process \(leaving.process) holds what follows"
      } else {
        leaving.until > time
          ? "the session \(leaving.journal) is being logged out by process \(leaving.process), nothing is taken in for "
            + DurationFormatter.text(milliseconds: leaving.until.milliseconds(since: time))
          : "the logout of the session \(leaving.journal) had no effect"
      }
    case .signInEnded(let signIn):
      "nothing comes through \(signIn.generation) of the session \(signIn.journal) any more, nor through what was "
        + "before it"
    case .retried(let key):
      "key \(key), which was given up"
    }
  }

  static func text(_ queue: ChangeQueue) -> String {
    "\(count(queue.pending.count, "change")) waiting, \(queue.failures.count) given up, "
      + count(queue.scopes.count, "scope")
  }

  private static func cause(_ cause: DeadLetterCause) -> String {
    switch cause {
    case .refused: "the server refused it"
    case .attemptsExhausted: "after as many attempts as allowed"
    case .endUnknown: "a damaged log does not show how it ended"
    default: "cause \(cause)"
    }
  }

  private static func reason(_ reason: String) -> String { reason.isEmpty ? "" : ": \(reason)" }
}

extension SessionRecord {
  /// The record as one of a change log; `nil` if it is none, or cannot be decoded as one.
  var change: ChangeRecord? {
    guard case .unknown(let unknown) = content else { return nil }
    // The payload without its time, which the decoder has removed.
    let (_, payload) = SessionCodec.encode(content, at: time)
    do throws(CodecError) {
      return try ChangeCodec.decode(sequence: sequence, kind: unknown.kind, payload: payload)
    } catch {
      // It is shown as what it is for a session: a record of an unknown kind.
      return nil
    }
  }
}

extension JSONWriter {
  /// Writes name, time and facts of a change log's record (`Specs/ChangeLog.md`), with sizes
  /// instead of content.
  mutating func readable(_ record: ChangeRecord) {
    field("name", record.name)
    field("time", record.time)
    object("facts") { json in
      switch record.content {
      case .event(let event): json.facts(event)
      case .snapshot(let queue): json.facts(queue)
      }
    }
  }

  private mutating func facts(_ event: ChangeEvent) {
    switch event {
    case .added(let added):
      field("user", added.user.description)
      change(added.change)
    case .sent(let sent):
      field("key", sent.key.description)
      field("sender", sent.sender.description)
      field("process", sent.process)
      field("deadline", sent.deadline)
    case .acknowledged(let key):
      field("key", key.description)
    case .postponed(let postponed):
      field("key", postponed.key.description)
      field("isCounted", postponed.isCounted)
      field("retryAt", postponed.retryAt)
      field("reason", postponed.reason)
    case .givenUp(let end):
      field("key", end.key.description)
      field("cause", end.cause.description)
      field("reason", end.reason)
    case .discarded(let discarded):
      field("key", discarded.key?.description)
      field("cause", discarded.cause.description)
    case .scopeChecked(let check):
      field("scope", check.scope)
      field("statusChangedAt", check.statusChangedAt)
    case .addedBy(let signIn), .signInEnded(let signIn):
      field("journal", signIn.journal.description)
      field("generation", signIn.generation.number)
    case .leaving(let leaving):
      field("journal", leaving.journal.description)
      field("process", leaving.process)
      field("until", leaving.until)
    case .retried(let key):
      field("key", key.description)
    }
  }

  private mutating func change(_ change: Change) {
    field("key", change.key.description)
    switch change {
    case .create(let edit): operation("create", on: edit.entity, mentions: edit.mentions)
    case .update(let edit): operation("update", on: edit.entity, mentions: edit.mentions)
    case .delete(let deletion): operation("delete", on: deletion.entity, mentions: [])
    case .request(let request):
      field("operation", "request")
      field("method", request.method)
      field("path", request.pathWithoutQuery)
      field("contentType", request.contentType)
    }
    field("bytes", change.contentSize)
  }

  private mutating func operation(
    _ name: String, on entity: EntityReference, mentions: [EntityReference]
  ) {
    field("operation", name)
    self.entity(entity)
    array("mentions", mentions) { json, mention in
      json.object { $0.entity(mention) }
    }
  }

  private mutating func entity(_ entity: EntityReference) {
    field("scope", entity.scope)
    field("type", entity.type)
    field("id", entity.id.description)
  }

  mutating func facts(_ queue: ChangeQueue) {
    array("pending", queue.pending) { json, item in
      json.object { json in
        json.field("user", item.user.description)
        json.change(item.change)
        json.field("since", item.since)
        json.field("sends", item.sends)
        json.field("attempts", item.attempts)
      }
    }
    array("failures", queue.failures) { json, failure in
      json.object { json in
        json.field("user", failure.user.description)
        json.change(failure.change)
        json.field("cause", failure.cause.description)
        json.field("reason", failure.reason)
        json.field("time", failure.time)
      }
    }
    let scopes = queue.scopes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    array("scopes", scopes) { json, scope in
      json.object { json in
        json.field("scope", scope.key)
        json.field("statusChangedAt", scope.value)
      }
    }
  }
}
