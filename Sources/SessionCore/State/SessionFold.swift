/// Everything that a journal's records say, folded: the state, and what outlives it.
///
/// Two folds run side by side: of the events into the state, and of the notes that open something
/// into the intents that are still open.
@_spi(Internals) public struct SessionFold: Hashable, Sendable {
  private var foldState = FoldState()
  /// The newest token that any event announced; survives logout, so that numbers never repeat.
  public private(set) var generation: Generation = .none
  /// The sequence of the last record; 0 before the first.
  public private(set) var sequence: UInt64 = 0
  /// The sequence of the last event; 0 before the first.
  public private(set) var eventSequence: UInt64 = 0
  /// What was opened and has not ended.
  public private(set) var intents = OpenIntents()

  /// Whether this version knows everything that was folded, so that a snapshot may stand for it.
  ///
  /// A newer version's record that was passed over, or whose newer fields were, makes it `false`.
  public private(set) var isWhole = true

  /// The fold of nothing.
  public init() {}

  /// A fold of these parts, as they are; whether a history leads to it is what
  /// ``SessionCodec/decode(sequence:kind:payload:)-([UInt8])`` says of the bytes that it is written as.
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

  /// What may stand for all that was folded; `nil` where this version does not know all of it.
  public var snapshot: SessionRecord.Content? { isWhole ? .snapshot(self) : nil }

  /// Why a record cannot be folded.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The record's event is not legal in the state before it.
    case illegal(SessionRejection, sequence: UInt64)
    /// The record is of a kind that this version does not know and may not pass over.
    ///
    /// - Requirement: JRN-3
    case unknownKind(UInt8, sequence: UInt64)
    /// The record is a snapshot, and the records before it do not lead to it.
    case contradiction(sequence: UInt64)

    /// The sequence of the record.
    public var sequence: UInt64 {
      switch self {
      case .illegal(_, let sequence), .unknownKind(_, let sequence), .contradiction(let sequence):
        sequence
      }
    }

    /// What cannot be folded, without its place.
    public var description: String {
      switch self {
      case .illegal(let rejection, _): rejection.description
      case .unknownKind(let kind, _):
        "a record of kind \(kind), written by a newer version, changes the state in a way that this "
          + "version does not know"
      case .contradiction:
        "a snapshot to which the records before it do not lead"
      }
    }
  }

  /// Takes in the next record, or throws and stays as it was.
  ///
  /// A snapshot takes the place of all that was folded. It must be ahead of that, or equal to it: a
  /// reader that was behind when others compacted the journal meets one that is ahead.
  public mutating func apply(_ record: SessionRecord) throws(Failure) {
    let place = Place(sequence: record.sequence, hasUnknownFields: record.hasUnknownFields)
    switch record.content {
    case .event(let event):
      try apply(event, at: record.time, place)
    case .note(let note):
      apply(note, place)
    case .snapshot(let snapshot):
      guard isFollowed(by: snapshot) else { throw .contradiction(sequence: record.sequence) }
      self = snapshot
      isWhole = !record.hasUnknownFields
    case .unknown(let unknown):
      guard unknown.isIgnorable else {
        throw .unknownKind(unknown.kind, sequence: record.sequence)
      }
      isWhole = false
      pass(to: place)
    }
  }

  /// Whether the records behind those that were folded can lead to this snapshot.
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

// What a fold of values and a fold of payloads have in common.
extension SessionFold {
  /// Where a record stands, and whether a newer version wrote fields into it.
  struct Place {
    let sequence: UInt64
    let hasUnknownFields: Bool
  }

  /// Takes in an event by its rule, or throws and stays as it was; the open request is left to the
  /// caller.
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

  mutating func apply(_ note: SessionNote, _ place: Place) {
    intents.apply(note, sequence: place.sequence)
    pass(to: place)
  }

  /// Ends the open request, or only that one.
  @inline(__always)
  mutating func endRequest(_ sequence: UInt64? = nil) { intents.endRequest(sequence) }

  /// Gives the session a context that was left out of its events.
  mutating func complete(with context: ActiveContext) { foldState.complete(with: context) }

  @inline(__always)
  private mutating func pass(to place: Place) {
    if place.hasUnknownFields { isWhole = false }
    sequence = place.sequence
  }
}

/// The notes that opened something which has not ended yet.
@_spi(Internals) public struct OpenIntents: Hashable, Sendable {
  /// A request that was sent and has no known end.
  public struct Request: Hashable, Sendable {
    /// The sequence of its note.
    public let sequence: UInt64
    /// What was sent.
    public let sent: SessionNote.RequestSent

    /// A request that was sent.
    package init(sequence: UInt64, sent: SessionNote.RequestSent) {
      self.sequence = sequence
      self.sent = sent
    }
  }

  /// The request for a newer token that has no known end.
  public private(set) var request: Request?
  /// The tokens whose revocation the server has not confirmed, oldest first.
  public private(set) var revocations: [Generation] = []

  /// Nothing open.
  public init() {}

  /// Open as these parts say.
  package init(request: Request?, revocations: [Generation]) {
    self.request = request
    self.revocations = revocations
  }

  mutating func apply(_ note: SessionNote, sequence: UInt64) {
    switch note {
    case .requestSent(let sent):
      request = Request(sequence: sequence, sent: sent)
    case .requestEnded(let ended):
      endRequest(ended.request)
    case .revocationPending(let generation):
      if !revocations.contains(generation) { revocations.append(generation) }
    case .revocationSettled(let settled):
      if settled.outcome != .failed { revocations.removeAll { $0 == settled.generation } }
    case .opened, .closed, .tailCut, .tokenRecovered, .secretsWiped, .itemUnreadable, .continued,
      .clockSkew, .localDataCleared, .storageFailed, .storageRecovered, .answerDropped,
      .answerUnused:
      break
    }
  }

  /// A new token, an end of the session or the failure of the request itself ends the request.
  mutating func apply(_ event: SessionEvent) {
    switch event {
    case .refreshFailed(let refresh):
      endRequest(refresh.request)
    case .contextSwitched(let change):
      if change.token != nil { endRequest() }
    case .login, .refreshSucceeded, .sessionExpired, .logout:
      endRequest()
    }
  }

  /// Ends the request, or only that with this sequence.
  @inline(__always)
  mutating func endRequest(_ sequence: UInt64? = nil) {
    if sequence == nil || request?.sequence == sequence { request = nil }
  }
}
