// This list has the fields of each note once, in the order of Specs/EventCodec.md.
// FieldPass names the users of the list.

@_spi(Internals) extension SessionNote {
  /// Returns the note with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> SessionNote {
    switch self {
    case .opened(let opened): .opened(try opened.rebuilt(by: &pass))
    case .closed: .closed
    case .tailCut(let cut): .tailCut(try cut.rebuilt(by: &pass))
    case .requestSent(let sent): .requestSent(try sent.rebuilt(by: &pass))
    case .requestEnded(let ended): .requestEnded(try ended.rebuilt(by: &pass))
    case .tokenRecovered(let generation):
      .tokenRecovered(try pass.generation(.payload("generation"), generation))
    case .revocationPending(let generation):
      .revocationPending(try pass.generation(.payload("generation"), generation))
    case .revocationSettled(let settled): .revocationSettled(try settled.rebuilt(by: &pass))
    case .secretsWiped(let cause): .secretsWiped(try pass.reason(.payload("cause"), cause))
    case .itemUnreadable(let item): .itemUnreadable(try pass.code(.payload("item"), item))
    case .continued(let link): .continued(try link.rebuilt(by: &pass))
    case .clockSkew(let milliseconds):
      .clockSkew(try pass.number(.payload("milliseconds"), milliseconds))
    case .localDataCleared: .localDataCleared
    case .moved: .moved
    case .storageFailed(let failed): .storageFailed(try failed.rebuilt(by: &pass))
    case .storageRecovered(let recovered): .storageRecovered(try recovered.rebuilt(by: &pass))
    case .answerDropped(let dropped): .answerDropped(try dropped.rebuilt(by: &pass))
    case .answerUnused(let request):
      .answerUnused(try pass.sequence(.payload("request"), request))
    case .deviceClockUsed(let generation):
      .deviceClockUsed(try pass.generation(.payload("generation"), generation))
    case .userNeeded(let needed): .userNeeded(try needed.rebuilt(by: &pass))
    case .refreshTokenLife(let life): .refreshTokenLife(try life.rebuilt(by: &pass))
    case .locked(let reason): .locked(try pass.reason(.payload("reason"), reason))
    case .unlocked: .unlocked
    case .tokensBound(let bound): .tokensBound(try bound.rebuilt(by: &pass))
    }
  }

  /// Shows each field to the visitor.
  @inlinable
  public func visit(_ visitor: inout some FieldVisitor) { _ = rebuilt(by: &visitor) }

  /// Creates a note of this kind from what the pass returns.
  @inlinable
  public init<Pass: FieldPass>(_ kind: Kind, from pass: inout Pass) throws(Pass.Failure) {
    self = try SessionNote.blank(kind).rebuilt(by: &pass)
  }

  /// Returns a note of this kind, for a pass that ignores the values that it is given.
  public static func blank(_ kind: Kind) -> SessionNote {
    switch kind {
    case .opened: .opened(Opened(process: 0, boot: nil, uptime: 0))
    case .closed: .closed
    case .tailCut: .tailCut(TailCut(bytes: 0, isUndetermined: false))
    case .requestSent: .requestSent(.blank)
    case .requestEnded: .requestEnded(RequestEnded(request: 0, failure: .blank))
    case .tokenRecovered: .tokenRecovered(.none)
    case .revocationPending: .revocationPending(.none)
    case .revocationSettled:
      .revocationSettled(RevocationSettled(generation: .none, outcome: .revoked, status: 0))
    case .secretsWiped: .secretsWiped(.signedOut)
    case .itemUnreadable: .itemUnreadable(.token)
    case .continued: .continued(Continued(journal: nil, sequence: 0, cause: .damaged))
    case .clockSkew: .clockSkew(0)
    case .localDataCleared: .localDataCleared
    case .moved: .moved
    case .storageFailed:
      .storageFailed(StorageFailed(item: .token, operation: .read, cause: .failed))
    case .storageRecovered: .storageRecovered(StorageRecovered(item: .token, operation: .read))
    case .answerDropped: .answerDropped(AnswerDropped(request: 0, cause: .failed))
    case .answerUnused: .answerUnused(0)
    case .deviceClockUsed: .deviceClockUsed(.none)
    case .refreshTokenLife: .refreshTokenLife(RefreshTokenLife(generation: .none, milliseconds: 0))
    case .locked: .locked(.user)
    case .unlocked: .unlocked
    case .tokensBound: .tokensBound(TokensBound(generation: .none, thumbprint: Identifier("")))
    case .userNeeded: .userNeeded(UserNeeded(generation: .none, isOfCall: false, failure: .blank))
    }
  }
}

@_spi(Internals) extension SessionNote.Opened {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      process: try pass.number("process", process), boot: try pass.identifier("boot", .boot, boot),
      uptime: try pass.number("uptime", uptime), app: try pass.version("app", app),
      identity: try pass.identity("identity", identity),
      platform: try pass.platform("platform", platform),
      policy: try pass.policy("policy", policy))
  }
}

@_spi(Internals) extension SessionNote.TailCut {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      bytes: try pass.number("bytes", bytes),
      isUndetermined: try pass.flag("isUndetermined", isUndetermined))
  }
}

@_spi(Internals) extension SessionNote.RequestSent {
  /// Returns the request with the fields that the pass returns for its own.
  ///
  /// A snapshot holds an open request too.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      kind: try pass.code("kind", kind), generation: try pass.generation("generation", generation),
      trigger: try pass.code("trigger", trigger), attempt: try pass.number("attempt", attempt),
      process: try pass.number("process", process), deadline: try pass.time("deadline", deadline),
      identity: try pass.identity("identity", identity))
  }

  /// Shows each field to the visitor.
  @inlinable
  public func visit(_ visitor: inout some FieldVisitor) { _ = rebuilt(by: &visitor) }

  /// A request for a pass that ignores the values that it is given.
  public static let blank = SessionNote.RequestSent(
    kind: .refresh, generation: .none, trigger: .schedule, attempt: 0, process: 0,
    deadline: Timestamp(milliseconds: 0))
}

@_spi(Internals) extension SessionNote.RequestEnded {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      request: try pass.sequence("request", request),
      failure: try pass.failure("failure", failure))
  }
}

@_spi(Internals) extension SessionNote.UserNeeded {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      generation: try pass.generation("generation", generation),
      isOfCall: try pass.flag("isOfCall", isOfCall),
      failure: try pass.failure("failure", failure), demand: try pass.demand("demand", demand))
  }
}

@_spi(Internals) extension SessionNote.RefreshTokenLife {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      generation: try pass.generation("generation", generation),
      milliseconds: try pass.number("milliseconds", milliseconds))
  }
}

@_spi(Internals) extension SessionNote.TokensBound {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      generation: try pass.generation("generation", generation),
      thumbprint: try pass.identifier("thumbprint", .key, thumbprint))
  }
}

@_spi(Internals) extension SessionNote.RevocationSettled {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      generation: try pass.generation("generation", generation),
      outcome: try pass.reason("outcome", outcome), status: try pass.number("status", status))
  }
}

@_spi(Internals) extension SessionNote.Continued {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    // The sequence is one of the other journal, so it is a number here.
    Self(
      journal: try pass.identifier("journal", .journal, journal),
      sequence: try pass.number("sequence", sequence), cause: try pass.reason("cause", cause))
  }
}

@_spi(Internals) extension SessionNote.StorageFailed {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(
      item: try pass.code("item", item), operation: try pass.code("operation", operation),
      cause: try pass.reason("cause", cause), number: try pass.number("number", number))
  }
}

@_spi(Internals) extension SessionNote.StorageRecovered {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(item: try pass.code("item", item), operation: try pass.code("operation", operation))
  }
}

@_spi(Internals) extension SessionNote.AnswerDropped {
  /// Returns the payload with the fields that the pass returns for its own.
  @inlinable
  public func rebuilt<Pass: FieldPass>(by pass: inout Pass) throws(Pass.Failure) -> Self {
    Self(request: try pass.sequence("request", request), cause: try pass.reason("cause", cause))
  }
}
