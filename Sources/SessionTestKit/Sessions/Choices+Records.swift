@_spi(Internals) package import SessionCore

/// Draws of events, notes and records, whether legal or not.
extension Choices {
  func event(_ kind: SessionEvent.Kind) -> SessionEvent {
    span {
      switch kind {
      case .login:
        .login(
          SessionEvent.Login(
            user: identifier(), method: code(), token: token(),
            context: chance(1, in: 2) ? context() : nil))
      case .refreshSucceeded:
        .refreshSucceeded(
          SessionEvent.RefreshSucceeded(
            token: token(), trigger: code(), attempt: number(), isRotated: chance(1, in: 2),
            request: number()))
      case .refreshFailed:
        .refreshFailed(
          SessionEvent.RefreshFailed(
            generation: generation(), trigger: code(), attempt: number(), failure: failure(),
            retryAt: chance(1, in: 2) ? timestamp() : nil, request: number(),
            configuredMeaning: chance(1, in: 4) ? code() : nil))
      case .contextSwitched:
        .contextSwitched(
          SessionEvent.ContextSwitched(
            context: context(), token: chance(1, in: 2) ? token() : nil, trigger: code(),
            request: number()))
      case .sessionExpired: .sessionExpired(SessionEvent.SessionExpired(reason: code()))
      case .logout: .logout(SessionEvent.Logout(reason: code()))
      }
    }
  }

  func event() -> SessionEvent {
    event(pick(SessionEvent.Kind.allCases) ?? .login)
  }

  func note(_ kind: SessionNote.Kind) -> SessionNote {
    span {
      switch kind {
      case .opened:
        .opened(
          SessionNote.Opened(
            process: number(), boot: chance(1, in: 2) ? identifier() : nil, uptime: number(),
            app: appVersion(), identity: processIdentity()))
      case .closed: .closed
      case .tailCut:
        .tailCut(SessionNote.TailCut(bytes: number(), isUndetermined: chance(1, in: 2)))
      case .requestSent:
        .requestSent(
          SessionNote.RequestSent(
            kind: code(), generation: generation(), trigger: code(), attempt: number(),
            process: number(), deadline: timestamp(), identity: processIdentity()))
      case .requestEnded:
        .requestEnded(SessionNote.RequestEnded(request: number(), failure: failure()))
      case .tokenRecovered: .tokenRecovered(generation())
      case .revocationPending: .revocationPending(generation())
      case .revocationSettled:
        .revocationSettled(
          SessionNote.RevocationSettled(
            generation: generation(), outcome: code(), status: number()))
      case .secretsWiped: .secretsWiped(code())
      case .itemUnreadable: .itemUnreadable(code())
      case .continued:
        .continued(
          SessionNote.Continued(
            journal: chance(1, in: 2) ? identifier() : nil, sequence: number(), cause: code()))
      case .clockSkew: .clockSkew(number())
      case .localDataCleared: .localDataCleared
      case .storageFailed:
        .storageFailed(
          SessionNote.StorageFailed(
            item: code(), operation: code(), cause: code(), number: number()))
      case .storageRecovered:
        .storageRecovered(SessionNote.StorageRecovered(item: code(), operation: code()))
      case .answerDropped:
        .answerDropped(SessionNote.AnswerDropped(request: number(), cause: code()))
      case .answerUnused: .answerUnused(number())
      }
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

  func content() -> SessionRecord.Content {
    switch draw(below: 8) {
    case 0...4: .event(event())
    case 5, 6: .note(note())
    default: .unknown(unknown())
    }
  }
}
