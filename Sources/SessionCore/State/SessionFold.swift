/// The fold of all records of a journal: the state, and what outlives it.
///
/// It consists of two folds. Events change the state. Notes open and end intents.
@_spi(Internals) public struct SessionFold: Hashable, Sendable {
  private var foldState = FoldState()
  /// The newest token of any event; it survives a logout, so that numbers never repeat.
  public private(set) var generation: Generation = .none
  /// The sequence of the last record; 0 before the first.
  public private(set) var sequence: UInt64 = 0
  /// The sequence of the last event; 0 before the first.
  public private(set) var eventSequence: UInt64 = 0
  /// The intents that are still open.
  public private(set) var intents = OpenIntents()

  /// Whether this version knows all that was folded, so that a snapshot may replace it.
  ///
  /// A newer version's records or fields that were skipped make it `false`.
  public private(set) var isWhole = true

  /// Creates the fold of no records.
  public init() {}

  /// Creates a fold from its parts, without a check.
  ///
  /// ``SessionCodec/decode(sequence:kind:payload:)-([UInt8])`` checks whether a history can result
  /// in it.
  package init(
    state: SessionState, generation: Generation, sequence: UInt64, eventSequence: UInt64,
    intents: OpenIntents
  ) {
    foldState = FoldState(state)
    self.generation = generation
    self.sequence = sequence
    self.eventSequence = eventSequence
    self.intents = intents
  }

  /// The fold of the events.
  public var state: SessionState { foldState.state }

  /// The name of the state; unlike ``state``, it copies nothing.
  package var kind: SessionState.Kind { foldState.kind }

  /// The user of the session; `nil` if there is none.
  package var user: Identifier? { foldState.owner }

  /// The generation of the current token; `nil` unless authenticated.
  ///
  /// It copies nothing either.
  package var tokenGeneration: Generation? { foldState.tokenGeneration }

  /// The snapshot that may replace all that was folded; `nil` if this version does not know all of
  /// it, or while a response waits to be stored.
  public var snapshot: SessionRecord.Content? { isReplaceable ? .snapshot(self) : nil }

  /// Whether there is a snapshot.
  package var isReplaceable: Bool { isWhole && intents.request?.unstored == nil }

  /// Why a record cannot be folded.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The record's event is not allowed in the state before it.
    case illegal(SessionRejection, sequence: UInt64)
    /// This version does not know the record's kind, and may not skip it.
    ///
    /// - Requirement: JRN-3
    case unknownKind(UInt8, sequence: UInt64)
    /// The record is a snapshot that contradicts the records before it.
    case contradiction(sequence: UInt64)

    /// The sequence of the record.
    public var sequence: UInt64 {
      switch self {
      case .illegal(_, let sequence), .unknownKind(_, let sequence), .contradiction(let sequence):
        sequence
      }
    }

    /// Says what cannot be folded, without its place.
    public var description: String {
      switch self {
      case .illegal(let rejection, _): rejection.description
      case .unknownKind(SessionRecord.movedKind, _):
        "the session was moved to another place, where it goes on"
      case .unknownKind(let kind, _):
        "a newer version wrote a record of kind \(kind), and this version does not know how it "
          + "changes the state"
      case .contradiction:
        "the snapshot does not match the records before it"
      }
    }
  }

  /// Folds the next record; if it throws, nothing changes.
  ///
  /// A snapshot replaces all that was folded. It must be newer than that, or equal to it. It is
  /// newer if other processes compacted the journal before this reader had read it.
  public mutating func apply(_ record: SessionRecord) throws(Failure) {
    try apply(
      record.content, at: record.time,
      Place(sequence: record.sequence, hasUnknownFields: record.hasUnknownFields))
  }

  // A function of its own: a switch over `record.content` copies the record (Swift 6.3), and one over
  // a parameter does not.
  private mutating func apply(
    _ content: SessionRecord.Content, at time: Timestamp, _ place: Place
  ) throws(Failure) {
    switch content {
    case .event(let event):
      try apply(event, at: time, place)
    case .note(let note):
      apply(note, at: time, place)
    case .snapshot(let snapshot):
      guard isFollowed(by: snapshot) else { throw .contradiction(sequence: place.sequence) }
      self = snapshot
      isWhole = !place.hasUnknownFields
    case .unknown(let unknown):
      guard unknown.isIgnorable else {
        throw .unknownKind(unknown.kind, sequence: place.sequence)
      }
      isWhole = false
      pass(to: place)
    }
  }

  /// Whether the next records can result in this snapshot.
  private func isFollowed(by snapshot: SessionFold) -> Bool {
    guard snapshot.sequence != sequence else {
      var whole = self
      whole.isWhole = snapshot.isWhole
      return whole == snapshot
    }
    return snapshot.sequence > sequence && snapshot.eventSequence >= eventSequence
      && snapshot.generation >= generation
  }

  private mutating func apply(_ event: SessionEvent, at time: Timestamp, _ place: Place)
    throws(Failure)
  {
    let token = event.announcedToken?.generation
    try take(event.kind, announcing: token, place) { (foldState) throws(SessionRejection) in
      try foldState.apply(event, at: time)
    }
    intents.apply(event)
  }
}

// Shared by the fold of values and the fold of payloads.
extension SessionFold {
  /// The place of a record, and whether a newer version wrote fields into it.
  struct Place {
    let sequence: UInt64
    let hasUnknownFields: Bool
  }

  /// Folds an event by its rule; if it throws, nothing changes.
  ///
  /// The caller must end the open request.
  @inline(__always)
  mutating func take(
    _ event: SessionEvent.Kind, announcing token: Generation?, _ place: Place,
    by rule: (inout FoldState) throws(SessionRejection) -> Void
  ) throws(Failure) {
    do throws(SessionRejection) {
      if let token, token <= generation {
        throw SessionRejection(state: foldState.kind, event: event, reason: .staleGeneration)
      }
      try rule(&foldState)
    } catch {
      throw .illegal(error, sequence: place.sequence)
    }
    if let token { generation = token }
    eventSequence = place.sequence
    pass(to: place)
  }

  mutating func apply(_ note: SessionNote, at time: Timestamp, _ place: Place) {
    if !note.kind.isOfSession || foldState.kind == .authenticated {
      intents.apply(note, sequence: place.sequence, at: time)
    }
    pass(to: place)
  }

  /// Ends the open request; with a sequence, only if it is that one.
  @inline(__always)
  mutating func endRequest(_ sequence: UInt64? = nil) { intents.endRequest(sequence) }

  /// Ends what a newer token of the session ends.
  @inline(__always)
  mutating func renew(answered request: UInt64, isNewLogin: Bool) {
    intents.renew(answered: request, isNewLogin: isNewLogin)
  }

  /// Ends what the beginning and the end of a session end.
  @inline(__always)
  mutating func endIntents() { intents.end() }

  /// Sets the values that were left out when the events were folded.
  mutating func complete(token: TokenMetadata?, context: ActiveContext?) {
    foldState.complete(token: token, context: context)
  }

  @inline(__always)
  private mutating func pass(to place: Place) {
    if place.hasUnknownFields { isWhole = false }
    sequence = place.sequence
  }
}

/// The intents that are still open.
@_spi(Internals) public struct OpenIntents: Hashable, Sendable {
  /// A request that was sent and whose end is not known.
  public struct Request: Hashable, Sendable {
    /// The sequence of its note.
    public let sequence: UInt64
    /// The content of its note.
    public let sent: SessionNote.RequestSent
    /// Why its response waits to be stored; `nil` unless a note says so.
    ///
    /// A snapshot does not contain it, so there is none meanwhile.
    ///
    /// - Requirement: REF-21
    package fileprivate(set) var unstored: SessionNote.StorageFailed?

    /// Creates an open request.
    package init(sequence: UInt64, sent: SessionNote.RequestSent) {
      self.sequence = sequence
      self.sent = sent
    }
  }

  /// The open request for a newer token; `nil` if there is none.
  public private(set) var request: Request?
  /// Whether a request is open: what each event asks, without a copy of the request.
  private(set) var hasRequest = false
  /// The tokens whose revocation is pending, oldest first.
  public private(set) var revocations: [Generation] = []
  /// What the server needs the user for; `nil` if it needs none.
  ///
  /// - Requirement: STA-9
  public var need: OpenNeed? { told.need }
  /// How long the server keeps a refresh token after its issue, in milliseconds; `nil` if unknown.
  ///
  /// - Requirement: REF-16
  public var refreshTokenLife: Int64? { told.refreshTokenLife }
  /// The thumbprint of the key to which the tokens are bound; `nil` if none is known.
  ///
  /// - Requirement: INT-9
  public var boundKey: Identifier? { told.boundKey }
  /// Why no caller receives a token, and since when; `nil` unless the session is locked.
  ///
  /// - Requirement: ACC-2
  public var lock: OpenLock? { told.lock }
  private var told = SessionRemarks()

  /// Creates a value without open intents.
  public init() {}

  /// Creates open intents from their parts.
  package init(request: Request?, revocations: [Generation]) {
    self.request = request
    hasRequest = request != nil
    self.revocations = revocations
  }

  mutating func apply(_ note: SessionNote, sequence: UInt64, at time: Timestamp) {
    switch note {
    case .userNeeded(let needed): told.need = OpenNeed(needed, since: time)
    case .refreshTokenLife(let life): told.refreshTokenLife = life.milliseconds
    case .locked(let reason): told.lock = OpenLock(reason, sequence, at: time, after: told.lock)
    case .unlocked: told.lock = nil
    case .tokensBound(let bound): told.boundKey = bound.thumbprint
    case .requestSent(let sent):
      request = Request(sequence: sequence, sent: sent)
      hasRequest = true
    case .requestEnded(let ended):
      endRequest(ended.request)
    case .revocationPending(let generation):
      if !revocations.contains(generation) { revocations.append(generation) }
    case .revocationSettled(let settled):
      if settled.outcome != .failed { revocations.removeAll { $0 == settled.generation } }
    case .answerUnused(let request):
      endRequest(request)
    // Only one request is open, and a token is written only after its response.
    case .storageFailed(let failed) where failed.isTokenWrite && hasRequest:
      request?.unstored = failed
    // Begins and ends no intent.
    default:
      break
    }
  }

  /// Ends the request after a new token, an end of the session, or the failure of the request
  /// itself.
  mutating func apply(_ event: SessionEvent) {
    switch event {
    case .refreshFailed(let refresh):
      endRequest(refresh.request)
    case .refreshSucceeded(let refresh):
      renew(answered: refresh.request, isNewLogin: refresh.trigger == .reauthentication)
    case .contextSwitched(let change):
      if change.token != nil { renew(answered: change.request, isNewLogin: false) }
    case .login, .sessionExpired, .logout:
      end()
    }
  }

  /// Ends the open request; with a sequence, only if it is that one.
  @inline(__always)
  mutating func endRequest(_ sequence: UInt64? = nil) {
    if hasRequest { endOpenRequest(sequence) }
  }

  @inline(never)
  private mutating func endOpenRequest(_ sequence: UInt64?) {
    guard sequence == nil || request?.sequence == sequence else { return }
    (request, hasRequest) = (nil, false)
  }

  /// Ends the request and all that notes said of the session.
  @inline(__always)
  mutating func end() {
    endRequest()
    if !told.isEmpty { told = SessionRemarks() }
  }

  /// Ends the need, which was that of the former token, and the open request if the token answers it.
  ///
  /// The request is 0 if the event names none. A call that needs the user with the newer token, too, is
  /// refused again. The tokens of a new login have a lifetime of their own.
  ///
  /// A request that was presumed lost may still be answered. The request that replaced it is then
  /// open, and may send the same refresh token. Another one must not be sent beside it.
  ///
  /// - Requirement: REF-3
  @inline(__always)
  mutating func renew(answered request: UInt64, isNewLogin: Bool) {
    if !told.isEmpty {
      told.need = nil
      if isNewLogin { told.refreshTokenLife = nil }
    }
    // A process can hold a response for long because its secret store is locked, while another one
    // sends its own request. When the held token was journaled, it once ended every open request.
    // So the first process could send a refresh beside the request of the other. A switch may keep
    // the refresh token, so both sent the same one, and a strict server would have revoked the
    // session. A simulated world found this in its 54th random case. The open request ends with its
    // own event or note, or when its lease is over. A snapshot can therefore hold a request that is
    // older than the current token.
    endRequest(request == 0 ? nil : request)
  }
}

/// What notes say of the session that goes on: equal to any other value.
///
/// No snapshot holds it: a version before this one could not read a snapshot with a further field and
/// without an open request. So two folds of one journal may differ in it. A compaction keeps the note of a
/// lock, and the others if there is room. Else the next refresh or call finds a need again.
private struct SessionRemarks: Hashable, Sendable {
  var need: OpenNeed?
  var refreshTokenLife: Int64?
  var boundKey: Identifier?
  var lock: OpenLock?

  var isEmpty: Bool { need == nil && refreshTokenLife == nil && boundKey == nil && lock == nil }

  static func == (one: SessionRemarks, other: SessionRemarks) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

/// A lock that a note began, and that no later record has ended.
///
/// - Requirement: ACC-2
@_spi(Internals) public struct OpenLock: Hashable, Sendable {
  /// Why it began.
  public let reason: SessionNote.LockReason
  /// When it began, on the device's clock.
  public let since: Timestamp
  /// The sequence of its last note: a lock that lasts is noted again.
  package let sequence: UInt64

  fileprivate init(
    _ reason: SessionNote.LockReason, _ sequence: UInt64, at time: Timestamp, after lock: OpenLock?
  ) {
    (self.reason, since) = (lock?.reason ?? reason, lock?.since ?? time)
    self.sequence = sequence
  }
}

extension SessionNote.Kind {
  /// Whether the note speaks of a session: without one it opens nothing.
  fileprivate var isOfSession: Bool {
    switch self {
    case .userNeeded, .refreshTokenLife, .tokensBound, .locked, .unlocked: true
    default: false
    }
  }
}
