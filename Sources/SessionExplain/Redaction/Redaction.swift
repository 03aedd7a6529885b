@_spi(Internals) package import SessionCore

/// A redaction of records: it replaces values that could identify a user, and keeps what happened.
///
/// Specs/ReplayFiles.md, section *Redaction*, has the rules. An event and a note are rebuilt field
/// by field, each by its kind. A new kind of field does not compile until a rule is written. A test
/// finds a field that the list of its event or note leaves out.
package struct Redaction: Equatable, Sendable {
  package let pseudonyms: Pseudonyms

  package init(pseudonyms: Pseudonyms) {
    self.pseudonyms = pseudonyms
  }

  /// Returns the record with pseudonyms; of an unknown record only its kind and time are kept.
  package func record(_ record: SessionRecord) -> SessionRecord {
    SessionRecord(sequence: record.sequence, time: record.time, content: content(record.content))
  }

  package func content(_ content: SessionRecord.Content) -> SessionRecord.Content {
    switch content {
    case .event(let event): .event(self.event(event))
    case .note(let note): .note(self.note(note))
    case .snapshot(let fold): .snapshot(self.fold(fold))
    case .unknown(let unknown): .unknown(.init(kind: unknown.kind, payload: []))
    }
  }

  package func event(_ event: SessionEvent) -> SessionEvent {
    var pass = FieldRedaction(redaction: self)
    return event.rebuilt(by: &pass)
  }

  package func note(_ note: SessionNote) -> SessionNote {
    var pass = FieldRedaction(redaction: self)
    return note.rebuilt(by: &pass)
  }

  package func fold(_ fold: SessionFold) -> SessionFold {
    SessionFold(
      state: state(fold.state), generation: fold.generation, sequence: fold.sequence,
      eventSequence: fold.eventSequence,
      intents: OpenIntents(
        request: fold.intents.request.map {
          .init(sequence: $0.sequence, sent: request($0.sent))
        }, revocations: fold.intents.revocations))
  }

  package func state(_ state: SessionState) -> SessionState {
    switch state {
    case .unauthenticated: .unauthenticated
    case .authenticated(let session):
      .authenticated(
        .init(
          user: user(session.user), method: session.method, since: session.since,
          token: token(session.token), context: session.context.map(context),
          failures: .init(
            total: session.failures.total, answered: session.failures.answered,
            last: session.failures.last.map(failure))))
    case .expired(let session):
      .expired(
        .init(
          user: user(session.user), context: session.context.map(context),
          reason: session.reason, since: session.since))
    }
  }

  package func user(_ id: Identifier) -> Identifier {
    Identifier(pseudonyms.name(.user, id.description))
  }

  /// Returns the pseudonym of a journal's identifier.
  package func journal(_ id: String) -> Identifier { pseudonyms.journal(id) }

  package func token(_ token: TokenMetadata) -> TokenMetadata {
    TokenMetadata(
      generation: token.generation, issuedAt: token.issuedAt, expiresAt: token.expiresAt,
      id: token.id.map { Identifier(pseudonyms.name(.token, $0.description)) },
      isRefreshable: token.isRefreshable)
  }

  /// Returns the context with pseudonyms, also for permissions: a server may put a school's name
  /// into them.
  package func context(_ context: ActiveContext) -> ActiveContext {
    ActiveContext(
      role: named(.role, context.role), school: context.school.map { named(.school, $0) },
      unit: context.unit.map { named(.unit, $0) },
      permissions: context.permissions.map { pseudonyms.name(.permission, $0) })
  }

  /// Returns the failure; a code that is not kept for every backend gets a pseudonym.
  ///
  /// Such a code comes from a configuration or an older version.
  package func failure(_ failure: RequestFailure) -> RequestFailure {
    RequestFailure(
      kind: failure.kind, status: failure.status,
      recordedCode: failure.serverCode.map {
        RequestFailure.keeps($0) ? $0 : pseudonyms.name(.code, $0)
      },
      retryAfter: failure.retryAfterMilliseconds)
  }

  private func request(_ sent: SessionNote.RequestSent) -> SessionNote.RequestSent {
    var pass = FieldRedaction(redaction: self)
    return sent.rebuilt(by: &pass)
  }

  /// Replaces names of openings, systems and files; different ones stay different.
  fileprivate func identity(_ identity: ProcessIdentity) -> ProcessIdentity {
    .init(
      opening: name(.opening, identity.opening), boot: identity.boot.map { name(.boot, $0) },
      namespace: identity.namespace.map { name(.namespace, $0) }, start: identity.start,
      lock: identity.lock.map { name(.lock, $0) })
  }

  fileprivate func name(_ category: Pseudonyms.Category, _ id: Identifier) -> Identifier {
    Identifier(pseudonyms.name(category, id.description))
  }

  /// Replaces id and name; an empty name stays empty.
  private func named(_ category: Pseudonyms.Category, _ named: ActiveContext.Named)
    -> ActiveContext.Named
  {
    ActiveContext.Named(
      id: Identifier(pseudonyms.name(category, named.id.description)),
      name: named.name.isEmpty ? "" : pseudonyms.name(category, named.name))
  }
}

/// The rule of each kind of field.
private struct FieldRedaction: FieldPass {
  let redaction: Redaction

  // These kinds say what happened, when, in which order and for which token. They identify no person,
  // so they stay as they are.

  func code<Code: OpenEnum>(_: FieldName, _ value: Code) -> Code { value }
  func reason<Code: OpenEnum>(_: FieldName, _ value: Code) -> Code { value }
  func meaning(_: FieldName, _ value: ErrorMeaning?) -> ErrorMeaning? { value }
  func number<Number: FixedWidthInteger>(_: FieldName, _ value: Number) -> Number { value }
  func sequence(_: FieldName, _ value: UInt64) -> UInt64 { value }
  func flag(_: FieldName, _ value: Bool) -> Bool { value }
  func time(_: FieldName, _ value: Timestamp) -> Timestamp { value }
  func time(_: FieldName, _ value: Timestamp?) -> Timestamp? { value }
  func generation(_: FieldName, _ value: Generation) -> Generation { value }
  func version(_: FieldName, _ value: AppVersion?) -> AppVersion? { value }
  func platform(_: FieldName, _ value: Platform?) -> Platform? { value }
  func policy(_: FieldName, _ value: RecordedPolicy?) -> RecordedPolicy? { value }

  // Where and by whom: pseudonyms. A class of authentication or a scope may name an organization.

  func demand(_: FieldName, _ value: AuthenticationDemand?) -> AuthenticationDemand? {
    value?.renamed { redaction.pseudonyms.name(.code, $0) }
  }

  func identifier(_: FieldName, _ kind: IdentifierKind, _ value: Identifier) -> Identifier {
    switch kind {
    case .user: redaction.user(value)
    case .boot: redaction.name(.boot, value)
    case .journal: redaction.journal(value.description)
    case .key: redaction.name(.key, value)
    }
  }

  func identifier(_ name: FieldName, _ kind: IdentifierKind, _ value: Identifier?) -> Identifier? {
    value.map { identifier(name, kind, $0) }
  }

  func token(_: FieldName, _ value: TokenMetadata) -> TokenMetadata { redaction.token(value) }

  func token(_: FieldName, _ value: TokenMetadata?) -> TokenMetadata? {
    value.map(redaction.token)
  }

  func context(_: FieldName, _ value: ActiveContext) -> ActiveContext { redaction.context(value) }

  func context(_: FieldName, _ value: ActiveContext?) -> ActiveContext? {
    value.map(redaction.context)
  }

  func failure(_: FieldName, _ value: RequestFailure) -> RequestFailure {
    redaction.failure(value)
  }

  func identity(_: FieldName, _ value: ProcessIdentity?) -> ProcessIdentity? {
    value.map(redaction.identity)
  }
}
