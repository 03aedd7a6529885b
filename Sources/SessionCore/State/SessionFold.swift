/// Everything that a journal's records say, folded: the state, and what outlives it.
///
/// Two folds run side by side: of the events into the state, and of the notes that open something
/// into the intents that are still open.
public struct SessionFold: Hashable, Sendable {
  /// The fold of the events.
  public private(set) var state: SessionState = .unauthenticated
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

  init(
    state: SessionState, generation: Generation, sequence: UInt64, eventSequence: UInt64,
    intents: OpenIntents
  ) {
    self.state = state
    self.generation = generation
    self.sequence = sequence
    self.eventSequence = eventSequence
    self.intents = intents
  }

  /// What may stand for all that was folded; `nil` where this version does not know all of it.
  public var snapshot: SessionRecord.Content? { isWhole ? .snapshot(self) : nil }

  /// Why a record cannot be folded.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The record's event is not legal in the state before it.
    case illegal(SessionRejection, sequence: UInt64)
    /// The record is of a kind that this version does not know and may not pass over (JRN-3).
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
    switch record.content {
    case .event(let event):
      do {
        try apply(event, at: record.time)
      } catch {
        throw .illegal(error, sequence: record.sequence)
      }
      eventSequence = record.sequence
    case .note(let note):
      intents.apply(note, sequence: record.sequence)
    case .snapshot(let snapshot):
      guard isFollowed(by: snapshot) else { throw .contradiction(sequence: record.sequence) }
      self = snapshot
      isWhole = !record.hasUnknownFields
      return
    case .unknown(let unknown):
      guard unknown.isIgnorable else {
        throw .unknownKind(unknown.kind, sequence: record.sequence)
      }
      isWhole = false
    }
    if record.hasUnknownFields { isWhole = false }
    sequence = record.sequence
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

  private mutating func apply(_ event: SessionEvent, at time: Timestamp) throws(SessionRejection) {
    if let token = event.announcedToken, token.generation <= generation {
      throw SessionRejection(state: state.kind, event: event.kind, reason: .staleGeneration)
    }
    try state.evolve(event, at: time)
    if let token = event.announcedToken { generation = token.generation }
    intents.apply(event)
  }
}

/// The notes that opened something which has not ended yet.
public struct OpenIntents: Hashable, Sendable {
  /// A request that was sent and has no known end.
  public struct Request: Hashable, Sendable {
    /// The sequence of its note.
    public let sequence: UInt64
    /// What was sent.
    public let sent: SessionNote.RequestSent
  }

  /// The request for a newer token that has no known end.
  public private(set) var request: Request?
  /// The tokens whose revocation the server has not confirmed, oldest first.
  public private(set) var revocations: [Generation] = []

  /// Nothing open.
  public init() {}

  init(request: Request?, revocations: [Generation]) {
    self.request = request
    self.revocations = revocations
  }

  mutating func apply(_ note: SessionNote, sequence: UInt64) {
    switch note {
    case .requestSent(let sent):
      request = Request(sequence: sequence, sent: sent)
    case .requestEnded(let ended):
      if request?.sequence == ended.request { request = nil }
    case .revocationPending(let generation):
      if !revocations.contains(generation) { revocations.append(generation) }
    case .revocationSettled(let settled):
      if settled.outcome != .failed { revocations.removeAll { $0 == settled.generation } }
    case .opened, .closed, .tailCut, .tokenRecovered, .secretsWiped, .itemUnreadable:
      break
    }
  }

  /// A new token, an end of the session or the failure of the request itself ends the request.
  mutating func apply(_ event: SessionEvent) {
    switch event {
    case .refreshFailed(let refresh):
      if request?.sequence == refresh.request { request = nil }
    case .contextSwitched(let change):
      if change.token != nil { request = nil }
    case .login, .refreshSucceeded, .sessionExpired, .logout:
      request = nil
    }
  }
}
