@_spi(Internals) package import SessionCore

/// A redaction of records: it replaces values that could identify a user, and keeps what happened.
///
/// Specs/ReplayFiles.md, section *Redaction*, has the rules. A record is rebuilt from parts that
/// are all named here. So a field of a later version cannot be overlooked: the code does not
/// compile.
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
    switch event {
    case .login(let login):
      .login(
        .init(
          user: user(login.user), method: login.method, token: token(login.token),
          context: login.context.map(context)))
    case .refreshSucceeded(let refresh):
      .refreshSucceeded(
        .init(
          token: token(refresh.token), trigger: refresh.trigger, attempt: refresh.attempt,
          isRotated: refresh.isRotated, request: refresh.request))
    case .refreshFailed(let refresh):
      .refreshFailed(
        .init(
          generation: refresh.generation, trigger: refresh.trigger, attempt: refresh.attempt,
          failure: failure(refresh.failure), retryAt: refresh.retryAt, request: refresh.request,
          configuredMeaning: refresh.configuredMeaning))
    case .contextSwitched(let change):
      .contextSwitched(
        .init(
          context: context(change.context), token: change.token.map(token),
          trigger: change.trigger, request: change.request))
    case .sessionExpired(let expiry): .sessionExpired(.init(reason: expiry.reason))
    case .logout(let logout): .logout(.init(reason: logout.reason))
    }
  }

  package func note(_ note: SessionNote) -> SessionNote {
    switch note {
    case .opened(let opened):
      .opened(
        .init(
          process: opened.process,
          boot: opened.boot.map { name(.boot, $0) }, uptime: opened.uptime, app: opened.app,
          identity: opened.identity.map(identity)))
    case .requestSent(let sent): .requestSent(request(sent))
    case .requestEnded(let ended):
      .requestEnded(.init(request: ended.request, failure: failure(ended.failure)))
    case .continued(let link):
      .continued(
        .init(
          journal: link.journal.map { journal($0.description) }, sequence: link.sequence,
          cause: link.cause))
    case .tailCut(let cut):
      .tailCut(.init(bytes: cut.bytes, isUndetermined: cut.isUndetermined))
    case .revocationSettled(let settled):
      .revocationSettled(
        .init(
          generation: settled.generation, outcome: settled.outcome, status: settled.status))
    case .tokenRecovered(let generation): .tokenRecovered(generation)
    case .revocationPending(let generation): .revocationPending(generation)
    case .secretsWiped(let cause): .secretsWiped(cause)
    case .itemUnreadable(let item): .itemUnreadable(item)
    case .clockSkew(let milliseconds): .clockSkew(milliseconds)
    case .closed: .closed
    case .localDataCleared: .localDataCleared
    case .storageFailed(let failed): .storageFailed(failed)
    case .storageRecovered(let recovered): .storageRecovered(recovered)
    case .answerDropped(let dropped):
      .answerDropped(.init(request: dropped.request, cause: dropped.cause))
    case .answerUnused(let request): .answerUnused(request)
    }
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
    .init(
      kind: sent.kind, generation: sent.generation, trigger: sent.trigger, attempt: sent.attempt,
      process: sent.process, deadline: sent.deadline, identity: sent.identity.map(identity))
  }

  /// Replaces names of openings, systems and files; different ones stay different.
  private func identity(_ identity: ProcessIdentity) -> ProcessIdentity {
    .init(
      opening: name(.opening, identity.opening), boot: identity.boot.map { name(.boot, $0) },
      namespace: identity.namespace.map { name(.namespace, $0) }, start: identity.start,
      lock: identity.lock.map { name(.lock, $0) })
  }

  private func name(_ category: Pseudonyms.Category, _ id: Identifier) -> Identifier {
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
