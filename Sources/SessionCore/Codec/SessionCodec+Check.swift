@_spi(Internals) extension SessionCodec {
  /// Throws what `decode` throws, but builds no value.
  ///
  /// A reader that searches a journal for some kinds checks the other records with it.
  public static func check(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError) {
    guard let event = SessionEvent.Kind(rawValue: kind) else {
      _ = try decode(sequence: sequence, kind: kind, payload: payload)
      return
    }
    var reader = PayloadReader(payload)
    _ = try reader.timestamp()
    let version = try reader.version()
    try reader.check(event, version)
    _ = try reader.finish(version, known: event.version)
  }
}

extension PayloadReader {
  @inline(__always)
  fileprivate mutating func check(_ kind: SessionEvent.Kind, _ version: UInt8) throws(CodecError) {
    switch kind {
    case .login:
      try skipIdentifier()
      let _: LoginMethod = try code()
      _ = try skipToken()
      if try flag() { try skipContext() }
    case .refreshSucceeded: _ = try refreshSucceeded()
    case .refreshFailed: _ = try refreshFailed(version)
    case .contextSwitched:
      try skipContext()
      if try flag() { _ = try skipToken() }
      let (_, _): (SwitchTrigger, UInt64) = (try code(), try integer())
    case .sessionExpired: _ = try sessionExpired()
    case .logout: _ = try logout()
    }
  }
}
