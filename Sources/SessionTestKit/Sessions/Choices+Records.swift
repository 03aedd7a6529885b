@_spi(Internals) package import SessionCore

/// Draws of events, notes and records, whether legal or not.
extension Choices {
  func event(_ kind: SessionEvent.Kind) -> SessionEvent {
    span {
      var fields = DrawnFields(choices: self)
      return SessionEvent(kind, from: &fields)
    }
  }

  func event() -> SessionEvent {
    event(pick(SessionEvent.Kind.allCases) ?? .login)
  }

  func note(_ kind: SessionNote.Kind) -> SessionNote {
    span {
      var fields = DrawnFields(choices: self)
      return SessionNote(kind, from: &fields)
    }
  }

  func note() -> SessionNote {
    note(pick(SessionNote.Kind.allCases) ?? .closed)
  }

  /// Draws an entry of a kind that no version knows yet.
  ///
  /// A reader may skip it if `isIgnorable` is `true`; `nil` draws that too. The kinds of the
  /// journal itself are not used, since they are not records of a session.
  package func unknown(isIgnorable: Bool? = nil) -> SessionRecord.Unknown {
    span {
      let mayIgnore = isIgnorable ?? !chance(1, in: 2)
      let kinds: ClosedRange<UInt8> = mayIgnore ? 0xC0...0xFE : 0x20...0x7E
      let kind = kinds.lowerBound + UInt8(draw(below: UInt64(kinds.count)))
      return SessionRecord.Unknown(kind: kind, payload: bytes(upTo: 40))
    }
  }

  /// Draws the identity of the process that wrote a record; `nil` for records of older versions.
  func processIdentity() -> ProcessIdentity? {
    guard chance(1, in: 2) else { return nil }
    return ProcessIdentity(
      opening: identifier(), boot: chance(1, in: 2) ? identifier() : nil,
      namespace: chance(1, in: 2) ? identifier() : nil, start: number(),
      lock: chance(1, in: 2) ? identifier() : nil)
  }

  func bytes(upTo limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    repeating(upTo: limit, mean: 20) { bytes.append(UInt8(draw(below: 256))) }
    return bytes
  }

  /// Draws an event and a note of each kind, and an entry of an unknown kind.
  package func contentOfEachKind() -> [SessionRecord.Content] {
    SessionEvent.Kind.allCases.map { .event(event($0)) }
      + SessionNote.Kind.allCases.map { .note(note($0)) } + [.unknown(unknown())]
  }

  func content() -> SessionRecord.Content {
    switch draw(below: 8) {
    case 0...4: .event(event())
    case 5, 6: .note(note())
    default: .unknown(unknown())
    }
  }
}

/// Draws each field by its kind; the given values are ignored.
///
/// A change of the draws changes what the cases in `Tests/Regressions` mean.
private struct DrawnFields: FieldPass {
  let choices: Choices

  func code<Code: OpenEnum>(_: FieldName, _: Code) -> Code { choices.code() }
  func reason<Code: OpenEnum>(_: FieldName, _: Code) -> Code { choices.code() }
  func meaning(_: FieldName, _: ErrorMeaning?) -> ErrorMeaning? {
    choices.chance(1, in: 4) ? choices.code() : nil
  }
  func number<Number: FixedWidthInteger>(_: FieldName, _: Number) -> Number { choices.number() }
  func sequence(_: FieldName, _: UInt64) -> UInt64 { choices.number() }
  func flag(_: FieldName, _: Bool) -> Bool { choices.chance(1, in: 2) }
  func time(_: FieldName, _: Timestamp) -> Timestamp { choices.timestamp() }
  func time(_: FieldName, _: Timestamp?) -> Timestamp? { perhaps { choices.timestamp() } }
  func generation(_: FieldName, _: Generation) -> Generation { choices.generation() }
  func identifier(_: FieldName, _: IdentifierKind, _: Identifier) -> Identifier {
    choices.identifier()
  }
  func identifier(_: FieldName, _: IdentifierKind, _: Identifier?) -> Identifier? {
    perhaps { choices.identifier() }
  }
  func version(_: FieldName, _: AppVersion?) -> AppVersion? { choices.appVersion() }
  func token(_: FieldName, _: TokenMetadata) -> TokenMetadata { choices.token() }
  func token(_: FieldName, _: TokenMetadata?) -> TokenMetadata? { perhaps { choices.token() } }
  func context(_: FieldName, _: ActiveContext) -> ActiveContext { choices.context() }
  func context(_: FieldName, _: ActiveContext?) -> ActiveContext? {
    perhaps { choices.context() }
  }
  func failure(_: FieldName, _: RequestFailure) -> RequestFailure { choices.failure() }
  func identity(_: FieldName, _: ProcessIdentity?) -> ProcessIdentity? {
    choices.processIdentity()
  }
  func platform(_: FieldName, _: Platform?) -> Platform? { perhaps { choices.code() } }
  func demand(_: FieldName, _: AuthenticationDemand?) -> AuthenticationDemand? {
    choices.chance(1, in: 2)
      ? AuthenticationDemand("max_age=\(choices.draw(below: 1_000)) acr=urn:example:loa2") : nil
  }
  func policy(_: FieldName, _: RecordedPolicy?) -> RecordedPolicy? {
    perhaps { RecordedPolicy(choices.pick([.standard, .offlineFirst, .edu()]) ?? .standard) }
  }

  /// Draws a value or none, which is the simplest.
  private func perhaps<Value>(_ draw: () -> Value) -> Value? {
    choices.chance(1, in: 2) ? draw() : nil
  }
}
