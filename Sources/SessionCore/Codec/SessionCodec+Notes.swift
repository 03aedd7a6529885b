extension SessionNote {
  /// The lowest version of its kind's fields that can hold the note.
  package var version: UInt8 {
    switch self {
    case .opened(let opened):
      if opened.policy != nil {
        5
      } else if opened.platform != nil {
        4
      } else if opened.identity != nil {
        3
      } else {
        opened.app != nil ? 2 : SessionCodec.firstVersion
      }
    case .requestSent(let sent): sent.version
    default: SessionCodec.firstVersion
    }
  }
}

extension SessionNote.Kind {
  /// The highest known version of the kind's fields.
  var version: UInt8 {
    switch self {
    case .opened: 5
    case .requestSent: SessionNote.RequestSent.identityVersion
    default: SessionCodec.firstVersion
    }
  }
}

extension SessionNote.RequestSent {
  /// The version of the note, and of a snapshot that holds it, that added the identity.
  static let identityVersion: UInt8 = 2

  /// The lowest version of the note that can hold it.
  var version: UInt8 { identity == nil ? SessionCodec.firstVersion : Self.identityVersion }
}

extension PayloadWriter {
  mutating func write(_ note: SessionNote) {
    switch note {
    case .opened(let opened):
      write(opened.process)
      write(opened.boot)
      write(opened.uptime)
      // Text that is not an app version is decoded as absent.
      if opened.app != nil || opened.identity != nil { write(opened.app?.description ?? "") }
      if let identity = opened.identity { write(identity) }
      if opened.platform != nil || opened.policy != nil {
        write(opened.platform ?? Platform(rawValue: .max))
      }
      if let policy = opened.policy { write(policy.description) }
    case .closed, .localDataCleared, .moved, .unlocked:
      break
    case .tailCut(let cut):
      write(cut.bytes)
      write(cut.isUndetermined)
    case .requestSent(let sent):
      write(sent)
      if let identity = sent.identity { write(identity) }
    case .requestEnded(let ended):
      write(ended.request)
      write(ended.failure)
    case .tokenRecovered(let generation), .revocationPending(let generation),
      .deviceClockUsed(let generation):
      write(generation)
    case .revocationSettled(let settled):
      write(settled.generation)
      write(settled.outcome)
      write(settled.status)
    case .userNeeded(let needed):
      write(needed)
    case .refreshTokenLife(let life):
      write(life.generation)
      write(life.milliseconds)
    case .locked(let reason):
      write(reason)
    case .tokensBound(let bound):
      write(bound.generation)
      write(bound.thumbprint)
    case .secretsWiped(let cause):
      write(cause)
    case .itemUnreadable(let item):
      write(item)
    case .continued(let link):
      write(link.journal)
      write(link.sequence)
      write(link.cause)
    case .clockSkew(let milliseconds):
      write(milliseconds)
    case .storageFailed(let failed):
      write(failed.item)
      write(failed.operation)
      write(failed.cause)
      write(failed.number)
    case .storageRecovered(let recovered):
      write(recovered.item)
      write(recovered.operation)
    case .answerDropped(let dropped):
      write(dropped.request)
      write(dropped.cause)
    case .answerUnused(let request):
      write(request)
    }
  }

  mutating func write(_ sent: SessionNote.RequestSent) {
    write(sent.kind)
    write(sent.generation)
    write(sent.trigger)
    write(sent.attempt)
    write(sent.process)
    write(sent.deadline)
  }

  mutating func write(_ needed: SessionNote.UserNeeded) {
    write(needed.generation)
    write(needed.isOfCall)
    write(needed.failure)
    // Text that is no demand is decoded as absent.
    write(needed.demand?.description ?? "")
  }

  package mutating func write(_ identity: ProcessIdentity) {
    write(identity.opening)
    write(identity.boot)
    write(identity.namespace)
    write(identity.start)
    write(identity.lock)
  }
}

extension PayloadReader {
  mutating func note(_ kind: SessionNote.Kind, _ version: UInt8) throws(CodecError) -> SessionNote {
    switch kind {
    case .opened:
      .opened(
        SessionNote.Opened(
          process: try integer(), boot: try optionalIdentifier(), uptime: try integer(),
          app: version < 2 ? nil : AppVersion(try text()),
          identity: version < 3 ? nil : try processIdentity(),
          platform: version < 4 ? nil : try code(),
          policy: version < 5 ? nil : RecordedPolicy(try text())))
    case .closed:
      .closed
    case .tailCut:
      .tailCut(SessionNote.TailCut(bytes: try integer(), isUndetermined: try flag()))
    case .requestSent:
      .requestSent(
        try requestSent(hasIdentity: version >= SessionNote.RequestSent.identityVersion))
    case .requestEnded:
      .requestEnded(SessionNote.RequestEnded(request: try integer(), failure: try failure()))
    case .tokenRecovered:
      .tokenRecovered(try generation())
    case .revocationPending:
      .revocationPending(try generation())
    case .revocationSettled:
      .revocationSettled(
        SessionNote.RevocationSettled(
          generation: try generation(), outcome: try code(), status: try integer()))
    case .secretsWiped:
      .secretsWiped(try code())
    case .itemUnreadable:
      .itemUnreadable(try code())
    case .continued:
      .continued(
        SessionNote.Continued(
          journal: try optionalIdentifier(), sequence: try integer(), cause: try code()))
    case .clockSkew:
      .clockSkew(try integer())
    case .localDataCleared:
      .localDataCleared
    case .moved:
      .moved
    case .storageFailed:
      .storageFailed(
        SessionNote.StorageFailed(
          item: try code(), operation: try code(), cause: try code(), number: try integer()))
    case .storageRecovered:
      .storageRecovered(
        SessionNote.StorageRecovered(item: try code(), operation: try code()))
    case .answerDropped:
      .answerDropped(SessionNote.AnswerDropped(request: try integer(), cause: try code()))
    case .answerUnused:
      .answerUnused(try integer())
    case .deviceClockUsed:
      .deviceClockUsed(try generation())
    case .userNeeded: .userNeeded(try userNeeded())
    case .refreshTokenLife:
      .refreshTokenLife(
        SessionNote.RefreshTokenLife(generation: try generation(), milliseconds: try integer()))
    case .locked: .locked(try code())
    case .unlocked: .unlocked
    case .tokensBound:
      .tokensBound(
        SessionNote.TokensBound(generation: try generation(), thumbprint: try identifier()))
    }
  }

  mutating func userNeeded() throws(CodecError) -> SessionNote.UserNeeded {
    SessionNote.UserNeeded(
      generation: try generation(), isOfCall: try flag(), failure: try failure(),
      demand: AuthenticationDemand(try text()))
  }

  mutating func requestSent(hasIdentity: Bool) throws(CodecError) -> SessionNote.RequestSent {
    SessionNote.RequestSent(
      kind: try code(), generation: try generation(), trigger: try code(),
      attempt: try integer(), process: try integer(), deadline: try timestamp(),
      identity: hasIdentity ? try processIdentity() : nil)
  }

  mutating func processIdentity() throws(CodecError) -> ProcessIdentity {
    ProcessIdentity(
      opening: try identifier(), boot: try optionalIdentifier(),
      namespace: try optionalIdentifier(), start: try integer(), lock: try optionalIdentifier())
  }
}
