/// A fold of a journal's records, directly from their payloads.
///
/// It does not decode values that later records replace.
///
/// Every record is checked like in ``SessionDecoder``, and folded by the rules of ``SessionFold``.
/// The current token and the active context stay encoded until they are requested.
@_spi(Internals) public struct PayloadFold: Sendable {
  // Most of what a record says is replaced by the next one of its kind: of a million events, one
  // login, one token and one context are left. Building the other values, and moving them through
  // three enums, took nine tenths of the time of a fold. So an opening, `sessionreplay state` and a
  // compaction use this. The rules still exist once, in `FoldState`. Property F7 compares both
  // folds after every record of generated and damaged journals. An unchecked way to read the active
  // context was rejected, since it is one more place to be wrong. So `fold()` throws, although it
  // decodes only what was checked.

  /// Why a record cannot be folded.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload cannot be decoded.
    case unreadable(CodecError, sequence: UInt64)
    /// The payload can be decoded, but the fold rejects the record.
    case refused(SessionFold.Failure)

    /// The sequence of the record.
    public var sequence: UInt64 {
      switch self {
      case .unreadable(_, let sequence): sequence
      case .refused(let failure): failure.sequence
      }
    }

    /// What is wrong, without its place.
    public var description: String {
      switch self {
      case .unreadable(let error, _): error.description
      case .refused(let failure): failure.description
      }
    }
  }

  /// What a payload says, without its texts.
  public enum Outline: Hashable, Sendable {
    case login(LoginMethod)
    case refreshSucceeded(isRotated: Bool, request: UInt64)
    /// The signed-in user logged in again: a newer token without a refresh.
    case reauthenticated
    case refreshFailed(RequestFailure.Kind, request: UInt64)
    case contextSwitched(hasToken: Bool)
    case sessionExpired(ExpiryReason)
    case logout(LogoutReason)
    case requestSent(RequestKind)
    /// Another note, or an entry of a newer version.
    case note
    /// A snapshot; of a session that is logged in, with its way to log in.
    case snapshot(LoginMethod?)
  }

  /// What a payload says, and how it changed the state.
  public struct Step: Hashable, Sendable {
    /// What the payload says.
    public let outline: Outline
    /// The time of the record.
    public let time: Timestamp
    /// The name of the state before it.
    public let before: SessionState.Kind
    /// The name of the state after it.
    public let after: SessionState.Kind

    /// Creates a step from its parts.
    public init(
      outline: Outline, time: Timestamp, before: SessionState.Kind, after: SessionState.Kind
    ) {
      self.outline = outline
      self.time = time
      self.before = before
      self.after = after
    }
  }

  /// The fold, without the values in `token` and `context`.
  private var partial: SessionFold
  /// The current token, unless it is the one in `partial`, which has its number in any case.
  private var token = EncodedValue()
  /// The active context, unless it is the one in `partial`.
  private var context = EncodedValue()

  /// Continues a fold.
  public init(_ fold: SessionFold = SessionFold()) {
    partial = fold
  }

  /// The sequence of the last record; 0 before the first.
  public var sequence: UInt64 { partial.sequence }

  /// What the last folded payload says.
  private var outline = Outline.note

  /// The intents that are still open.
  public var intents: OpenIntents { partial.intents }

  /// Returns the fold of all records so far; throws only if `apply` would have thrown.
  public func fold() throws(CodecError) -> SessionFold {
    var fold = partial
    fold.complete(
      token: try token.decoded { (reader) throws(CodecError) in try reader.token() },
      context: try context.decoded { (reader) throws(CodecError) in
        var known = TextTable()
        return try reader.context(&known)
      })
    return fold
  }

  /// Folds the next record like `apply`, and returns what it says and what it changed.
  public mutating func step(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(Failure)
    -> Step
  {
    let before = partial.kind
    let time = try apply(sequence: sequence, kind: kind, payload: payload)
    return Step(outline: outline, time: time, before: before, after: partial.kind)
  }

  /// Folds the next record and returns its time; if it throws, nothing changes.
  @discardableResult
  public mutating func apply(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(Failure)
    -> Timestamp
  {
    var fields = try Payload(payload, sequence)
    if let event = SessionEvent.Kind(rawValue: kind) {
      try apply(event, &fields)
    } else if let note = SessionNote.Kind(rawValue: kind) {
      try apply(note, &fields)
    } else {
      try applyWhole(sequence, kind, payload)
    }
    return fields.time
  }

  @inline(__always)
  private mutating func apply(_ event: SessionEvent.Kind, _ payload: inout Payload) throws(Failure)
  {
    switch event {
    case .login: try login(&payload)
    case .refreshSucceeded: try refreshSucceeded(&payload)
    case .refreshFailed: try refreshFailed(&payload)
    case .contextSwitched: try contextSwitched(&payload)
    case .sessionExpired: try sessionExpired(&payload)
    case .logout: try logout(&payload)
    }
  }

  private mutating func login(_ payload: inout Payload) throws(Failure) {
    let ((user, method, token, context), place) = try payload.read { (reader) throws(CodecError) in
      (
        try reader.identifier(), try reader.code(LoginMethod.self), try reader.encodedToken(),
        try reader.flag() ? try reader.encodedContext() : nil
      )
    }
    let time = payload.time
    try take(.login, announcing: token.generation, place) { (foldState) throws(SessionRejection) in
      try foldState.login(user, by: method, token: token.numbered, context: nil, at: time)
    }
    partial.endIntents()
    self.token.keep(token.bytes)
    self.context.forget()
    if let context { self.context.keep(context) }
    outline = .login(method)
  }

  @inline(__always)
  private mutating func refreshSucceeded(_ payload: inout Payload) throws(Failure) {
    let ((token, trigger, isRotated, request), place) = try payload.read {
      (reader) throws(CodecError) in
      let token = try reader.encodedToken()
      let (trigger, _): (RefreshTrigger, UInt32) = (try reader.code(), try reader.integer())
      return (token, trigger, try reader.flag(), try reader.integer(UInt64.self))
    }
    try take(.refreshSucceeded, announcing: token.generation, place) {
      (foldState) throws(SessionRejection) in try foldState.refreshSucceeded(token.numbered)
    }
    partial.renew(answered: request, isNewLogin: trigger == .reauthentication)
    self.token.keep(token.bytes)
    outline =
      trigger == .reauthentication
      ? .reauthenticated : .refreshSucceeded(isRotated: isRotated, request: request)
  }

  @inline(never)
  private mutating func refreshFailed(_ payload: inout Payload) throws(Failure) {
    let (refresh, place) = try payload.read(known: SessionEvent.Kind.refreshFailed.version) {
      (reader, version) throws(CodecError) in try reader.refreshFailed(version)
    }
    try take(.refreshFailed, place) { (foldState) throws(SessionRejection) in
      try foldState.refreshFailed(with: refresh.generation, by: refresh.failure)
    }
    partial.endRequest(refresh.request)
    outline = .refreshFailed(refresh.failure.kind, request: refresh.request)
  }

  private mutating func contextSwitched(_ payload: inout Payload) throws(Failure) {
    let ((context, token, request), place) = try payload.read { (reader) throws(CodecError) in
      let context = try reader.encodedContext()
      let token = try reader.flag() ? try reader.encodedToken() : nil
      let (_, request): (SwitchTrigger, UInt64) = (try reader.code(), try reader.integer())
      return (context, token, request)
    }
    try take(.contextSwitched, announcing: token?.generation, place) {
      (foldState) throws(SessionRejection) in
      try foldState.contextSwitched(to: nil, token: token?.numbered)
    }
    if let token {
      partial.renew(answered: request, isNewLogin: false)
      self.token.keep(token.bytes)
    }
    self.context.keep(context)
    outline = .contextSwitched(hasToken: token != nil)
  }

  private mutating func sessionExpired(_ payload: inout Payload) throws(Failure) {
    let (expiry, place) = try payload.read { (reader) throws(CodecError) in
      try reader.sessionExpired()
    }
    let time = payload.time
    try take(.sessionExpired, place) { (foldState) throws(SessionRejection) in
      try foldState.sessionExpired(expiry.reason, at: time)
    }
    partial.endIntents()
    token.forget()
    outline = .sessionExpired(expiry.reason)
  }

  private mutating func logout(_ payload: inout Payload) throws(Failure) {
    let (logout, place) = try payload.read { (reader) throws(CodecError) in try reader.logout() }
    try take(.logout, place) { (foldState) throws(SessionRejection) in try foldState.logout() }
    partial.endIntents()
    token.forget()
    context.forget()
    outline = .logout(logout.reason)
  }

  @inline(never)
  private mutating func apply(_ kind: SessionNote.Kind, _ payload: inout Payload) throws(Failure) {
    let (note, place) = try payload.read(known: kind.version) {
      (reader, version) throws(CodecError) in try reader.note(kind, version)
    }
    partial.apply(note, at: payload.time, place)
    outline = if case .requestSent(let sent) = note { .requestSent(sent.kind) } else { .note }
  }

  /// Decodes and folds a snapshot, or a record of an unknown kind.
  private mutating func applyWhole(_ sequence: UInt64, _ kind: UInt8, _ payload: RawSpan)
    throws(Failure)
  {
    let record: SessionRecord
    var whole: SessionFold
    do throws(CodecError) {
      record = try SessionCodec.decode(sequence: sequence, kind: kind, payload: payload)
      whole = try fold()
    } catch {
      throw .unreadable(error, sequence: sequence)
    }
    do throws(SessionFold.Failure) {
      try whole.apply(record)
    } catch {
      throw .refused(error)
    }
    self = PayloadFold(whole)
    outline = Outline(record)
  }

  @inline(__always)
  private mutating func take(
    _ event: SessionEvent.Kind, announcing token: Generation? = nil, _ place: SessionFold.Place,
    by rule: (inout FoldState) throws(SessionRejection) -> Void
  ) throws(Failure) {
    do throws(SessionFold.Failure) {
      try partial.take(event, announcing: token, place, by: rule)
    } catch {
      throw .refused(error)
    }
  }

}

@_spi(Internals) extension PayloadFold.Outline {
  /// Creates the outline of a decoded record.
  public init(_ record: SessionRecord) {
    switch record.content {
    case .event(let event):
      switch event {
      case .login(let login): self = .login(login.method)
      case .refreshSucceeded(let refresh):
        self =
          refresh.trigger == .reauthentication
          ? .reauthenticated
          : .refreshSucceeded(isRotated: refresh.isRotated, request: refresh.request)
      case .refreshFailed(let refresh):
        self = .refreshFailed(refresh.failure.kind, request: refresh.request)
      case .contextSwitched(let change): self = .contextSwitched(hasToken: change.token != nil)
      case .sessionExpired(let expiry): self = .sessionExpired(expiry.reason)
      case .logout(let logout): self = .logout(logout.reason)
      }
    case .note(.requestSent(let sent)): self = .requestSent(sent.kind)
    case .note, .unknown: self = .note
    case .snapshot(let fold):
      if case .authenticated(let session) = fold.state {
        self = .snapshot(session.method)
      } else {
        self = .snapshot(nil)
      }
    }
  }
}

/// A payload whose time is read first, then its fields.
private struct Payload {
  private var reader: PayloadReader
  private let sequence: UInt64
  let time: Timestamp

  @inline(__always)
  init(_ payload: RawSpan, _ sequence: UInt64) throws(PayloadFold.Failure) {
    reader = PayloadReader(payload)
    self.sequence = sequence
    do throws(CodecError) {
      time = try reader.timestamp()
    } catch {
      throw .unreadable(error, sequence: sequence)
    }
  }

  /// Reads all fields of a kind with one version, and the record's place for the fold.
  @inline(__always)
  mutating func read<Fields>(
    _ fields: (inout PayloadReader) throws(CodecError) -> Fields
  ) throws(PayloadFold.Failure) -> (Fields, SessionFold.Place) {
    try read(known: SessionCodec.firstVersion) { (reader, _) throws(CodecError) in
      try fields(&reader)
    }
  }

  /// Reads all fields of a kind whose versions are known up to `known`.
  @inline(__always)
  mutating func read<Fields>(
    known: UInt8, _ fields: (inout PayloadReader, UInt8) throws(CodecError) -> Fields
  ) throws(PayloadFold.Failure) -> (Fields, SessionFold.Place) {
    do throws(CodecError) {
      let version = try reader.version()
      let read = try fields(&reader, version)
      let isNewer = try reader.finish(version, known: known)
      return (read, SessionFold.Place(sequence: sequence, hasUnknownFields: isNewer))
    } catch {
      throw .unreadable(error, sequence: sequence)
    }
  }
}
