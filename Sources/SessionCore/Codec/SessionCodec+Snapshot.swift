extension SessionFold {
  /// The version of a snapshot that added the identity of the open request's sender.
  static let identityVersion = SessionNote.RequestSent.identityVersion

  /// The lowest version of a snapshot that can hold the fold.
  var version: UInt8 { intents.request?.sent.version ?? SessionCodec.firstVersion }
}

extension PayloadWriter {
  /// Writes every field of a fold in a fixed order: folds are equal exactly if their bytes are.
  mutating func write(_ fold: SessionFold) {
    write(fold.sequence)
    write(fold.eventSequence)
    write(fold.generation)
    write(optional: fold.state.authenticated) { $0.write($1) }
    write(optional: fold.state.expired) { $0.write($1) }
    write(optional: fold.intents.request) { writer, request in
      writer.write(request.sequence)
      writer.write(request.sent)
    }
    write(UInt32(clamping: fold.intents.revocations.count))
    for generation in fold.intents.revocations { write(generation) }
    if let identity = fold.intents.request?.sent.identity { write(identity) }
  }

  private mutating func write(_ session: SessionState.Authenticated) {
    write(session.user)
    write(session.method)
    write(session.since)
    write(session.token)
    write(optional: session.context) { $0.write($1) }
    write(session.failures.total)
    write(session.failures.answered)
    write(optional: session.failures.last) { $0.write($1) }
  }

  private mutating func write(_ session: SessionState.Expired) {
    write(session.user)
    write(optional: session.context) { $0.write($1) }
    write(session.reason)
    write(session.since)
  }
}

extension PayloadReader {
  /// Reads the fold in a snapshot whose frame has the sequence `last`.
  ///
  /// Throws `impossible` at the first field whose value no history results in.
  mutating func fold(through last: UInt64, _ version: UInt8) throws(CodecError) -> SessionFold {
    var known = TextTable()
    let sequence: UInt64 = try integer { $0 <= last }
    let eventSequence: UInt64 = try integer { $0 <= sequence }
    let newest: UInt64 = try integer { ($0 == 0) == (eventSequence == 0) }
    let authenticated = try possible(
      { (reader) throws(CodecError) in try reader.flag() ? try reader.authenticated(&known) : nil },
      { $0.map { $0.isPossible(newest: newest, events: eventSequence) } ?? true })
    let expired = try possible(
      { (reader) throws(CodecError) in try reader.flag() ? try reader.expired(&known) : nil },
      { expired in
        guard authenticated == nil else { return expired == nil }
        return eventSequence >= 2 || (eventSequence == 0 && expired == nil)
      })
    let request = try possible(
      { (reader) throws(CodecError) in try reader.flag() ? try reader.openRequest() : nil },
      { request in
        guard let place = request?.sequence else { return true }
        return place >= 1 && place <= sequence && place != eventSequence
          && (authenticated != nil || place > eventSequence)
      })
    let revocations = try possible(
      { (reader) throws(CodecError) in try reader.generations() },
      { $0.count <= sequence && Set($0).count == $0.count })
    let start = offset
    let identity = version < SessionFold.identityVersion ? nil : try processIdentity()
    // This version names the sender of the open request: there must be one.
    guard identity == nil || request != nil else { throw .impossible(offset: start) }
    return SessionFold(
      state: authenticated.map(SessionState.authenticated) ?? expired.map(SessionState.expired)
        ?? .unauthenticated,
      generation: Generation(newest), sequence: sequence, eventSequence: eventSequence,
      intents: OpenIntents(
        request: request.map { .init(sequence: $0.sequence, sent: $0.sent.sent(by: identity)) },
        revocations: revocations))
  }

  /// Reads a value; throws `impossible` at its first byte if no history results in it.
  private mutating func possible<Value>(
    _ read: (inout PayloadReader) throws(CodecError) -> Value, _ isPossible: (Value) -> Bool
  ) throws(CodecError) -> Value {
    let start = offset
    let value = try read(&self)
    guard isPossible(value) else { throw .impossible(offset: start) }
    return value
  }

  private mutating func integer(_ isPossible: (UInt64) -> Bool) throws(CodecError) -> UInt64 {
    try possible({ (reader) throws(CodecError) in try reader.integer() }, isPossible)
  }

  private mutating func authenticated(_ known: inout TextTable) throws(CodecError)
    -> SessionState.Authenticated
  {
    SessionState.Authenticated(
      user: try identifier(), method: try code(), since: try timestamp(), token: try token(),
      context: try flag() ? try context(&known) : nil,
      failures: SessionState.RefreshFailures(
        total: try integer(), answered: try integer(), last: try flag() ? try failure() : nil))
  }

  private mutating func expired(_ known: inout TextTable) throws(CodecError)
    -> SessionState.Expired
  {
    SessionState.Expired(
      user: try identifier(), context: try flag() ? try context(&known) : nil, reason: try code(),
      since: try timestamp())
  }

  private mutating func openRequest() throws(CodecError) -> OpenIntents.Request {
    OpenIntents.Request(sequence: try integer(), sent: try requestSent(hasIdentity: false))
  }

  private mutating func generations() throws(CodecError) -> [Generation] {
    let count = try integer(UInt32.self)
    var generations: [Generation] = []
    // A damaged count must not reserve memory.
    generations.reserveCapacity(min(Int(count), remaining / MemoryLayout<UInt64>.size))
    for _ in 0..<count { generations.append(try generation()) }
    return generations
  }
}

extension SessionNote.RequestSent {
  fileprivate func sent(by identity: ProcessIdentity?) -> Self {
    .init(
      kind: kind, generation: generation, trigger: trigger, attempt: attempt, process: process,
      deadline: deadline, identity: identity)
  }
}

extension SessionState {
  fileprivate var authenticated: Authenticated? {
    guard case .authenticated(let session) = self else { return nil }
    return session
  }

  fileprivate var expired: Expired? {
    guard case .expired(let session) = self else { return nil }
    return session
  }
}

extension SessionState.Authenticated {
  /// Whether events up to the sequence `events`, the newest token being `newest`, can result in it.
  fileprivate func isPossible(newest: UInt64, events: UInt64) -> Bool {
    token.generation.number == newest && events > UInt64(failures.total) && failures.isPossible
  }
}

extension SessionState.RefreshFailures {
  fileprivate var isPossible: Bool {
    guard let last else { return total == 0 && answered == 0 }
    guard total > 0, answered <= total else { return false }
    return last.kind.isAnswered ? answered > 0 : answered < total || total == .max
  }
}
