@_spi(Internals) import SessionCore
import SessionTestKit

/// Random values of everything that a record may hold, extremes included.
extension SplitMix {
  mutating func chance(_ one: Int, in all: Int) -> Bool {
    Int.random(in: 0..<all, using: &self) < one
  }

  mutating func pick<Element>(_ elements: [Element], or fallback: Element) -> Element {
    elements.randomElement(using: &self) ?? fallback
  }

  mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_: Value.Type = Value.self)
    -> Value
  {
    switch UInt8.random(in: 0..<8, using: &self) {
    case 0: .min
    case 1: .max
    case 2, 3, 4: Value(truncatingIfNeeded: next() % 200)
    default: Value(truncatingIfNeeded: next())
    }
  }

  mutating func signed() -> Int64 {
    switch UInt8.random(in: 0..<8, using: &self) {
    case 0: .min
    case 1: .max
    case 2: 0
    case 3: -1
    default: Int64(bitPattern: next())
    }
  }

  mutating func timestamp() -> Timestamp { Timestamp(milliseconds: signed()) }
  mutating func generation() -> Generation { Generation(integer()) }
  mutating func code<Value: OpenEnum>(_: Value.Type = Value.self) -> Value {
    Value(rawValue: chance(4, in: 5) ? UInt8(next() % UInt64(Value.words.count)) : integer())
  }

  mutating func text() -> String {
    let letters: [Character] = ["a", "Z", "é", "e\u{301}", "日", "👩‍👩‍👧", "\0", "\n", "\"", "\\", "ß"]
    let length = Int.random(in: 0...12, using: &self)
    return String((0..<length).map { _ in pick(letters, or: "x") })
  }

  mutating func identifier() -> Identifier {
    chance(1, in: 2) ? Identifier(uuidHigh: next(), low: next()) : Identifier(text())
  }

  mutating func token() -> TokenMetadata {
    TokenMetadata(
      generation: generation(), issuedAt: timestamp(), expiresAt: timestamp(),
      id: chance(1, in: 2) ? identifier() : nil, isRefreshable: chance(1, in: 2))
  }

  mutating func named() -> ActiveContext.Named {
    ActiveContext.Named(id: identifier(), name: text())
  }

  mutating func context() -> ActiveContext {
    ActiveContext(
      role: named(), school: chance(1, in: 2) ? named() : nil,
      unit: chance(1, in: 2) ? named() : nil,
      permissions: (0..<Int.random(in: 0...5, using: &self)).map { _ in text() })
  }

  mutating func failure() -> RequestFailure {
    RequestFailure(
      kind: code(), status: integer(),
      serverCode: pick([nil, "TOKEN_EXPIRED", "invalid_grant", "E404", "not a code"], or: nil),
      retryAfter: chance(1, in: 2) ? .milliseconds(signed() as Int64) : nil)
  }

  mutating func event(_ kind: SessionEvent.Kind) -> SessionEvent {
    switch kind {
    case .login:
      .login(
        .init(
          user: identifier(), method: code(), token: token(),
          context: chance(1, in: 2) ? context() : nil))
    case .refreshSucceeded:
      .refreshSucceeded(
        .init(
          token: token(), trigger: code(), attempt: integer(), isRotated: chance(1, in: 2),
          request: integer()))
    case .refreshFailed:
      .refreshFailed(
        .init(
          generation: generation(), trigger: code(), attempt: integer(), failure: failure(),
          retryAt: chance(1, in: 2) ? timestamp() : nil, request: integer(),
          configuredMeaning: chance(1, in: 4) ? code() : nil))
    case .contextSwitched:
      .contextSwitched(
        .init(
          context: context(), token: chance(1, in: 2) ? token() : nil, trigger: code(),
          request: integer()))
    case .sessionExpired: .sessionExpired(.init(reason: code()))
    case .logout: .logout(.init(reason: code()))
    }
  }

  mutating func identity() -> ProcessIdentity {
    ProcessIdentity(
      opening: identifier(), boot: chance(1, in: 2) ? identifier() : nil,
      namespace: chance(1, in: 2) ? identifier() : nil, start: integer(),
      lock: chance(1, in: 2) ? identifier() : nil)
  }

  mutating func note(_ kind: SessionNote.Kind) -> SessionNote {
    switch kind {
    case .opened:
      .opened(
        .init(
          process: integer(), boot: chance(1, in: 2) ? identifier() : nil, uptime: signed(),
          app: pick([nil, "2.4.1+318", "x"], or: nil).flatMap(AppVersion.init),
          identity: chance(1, in: 2) ? identity() : nil))
    case .closed: .closed
    case .tailCut: .tailCut(.init(bytes: integer(), isUndetermined: chance(1, in: 2)))
    case .requestSent:
      .requestSent(
        .init(
          kind: code(), generation: generation(), trigger: code(), attempt: integer(),
          process: integer(), deadline: timestamp(),
          identity: chance(1, in: 2) ? identity() : nil))
    case .requestEnded: .requestEnded(.init(request: integer(), failure: failure()))
    case .tokenRecovered: .tokenRecovered(generation())
    case .revocationPending: .revocationPending(generation())
    case .revocationSettled:
      .revocationSettled(.init(generation: generation(), outcome: code(), status: integer()))
    case .secretsWiped: .secretsWiped(code())
    case .itemUnreadable: .itemUnreadable(code())
    case .continued:
      .continued(
        .init(
          journal: chance(1, in: 2) ? identifier() : nil, sequence: integer(), cause: code()))
    case .clockSkew: .clockSkew(signed())
    case .localDataCleared: .localDataCleared
    case .storageFailed:
      .storageFailed(
        .init(item: code(), operation: code(), cause: code(), number: signed()))
    case .storageRecovered: .storageRecovered(.init(item: code(), operation: code()))
    case .answerDropped: .answerDropped(.init(request: integer(), cause: code()))
    case .answerUnused: .answerUnused(integer())
    }
  }

  /// One content of each kind, and one of an unknown kind.
  mutating func contents() -> [SessionRecord.Content] {
    var contents: [SessionRecord.Content] = []
    for kind in SessionEvent.Kind.allCases { contents.append(.event(event(kind))) }
    for kind in SessionNote.Kind.allCases { contents.append(.note(note(kind))) }
    contents.append(.unknown(unknown()))
    return contents
  }

  mutating func unknown() -> SessionRecord.Unknown {
    var kind = integer(UInt8.self)
    while SessionEvent.Kind(rawValue: kind) != nil || SessionNote.Kind(rawValue: kind) != nil
      || kind == SessionRecord.snapshotKind
    {
      kind = UInt8(truncatingIfNeeded: next())
    }
    let count = Int.random(in: 0...40, using: &self)
    return SessionRecord.Unknown(kind: kind, payload: (0..<count).map { _ in integer() })
  }
}
