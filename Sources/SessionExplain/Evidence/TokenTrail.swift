@_spi(Internals) import SessionCore

/// The tokens of one login: the newest one, and those that newer ones have replaced.
struct TokenTrail: Sendable {
  /// The history of the newest token; `nil` if no login was read.
  var current: TokenHistory?
  private(set) var earlier = EarlierTokens()

  init(_ current: TokenHistory? = nil) { self.current = current }

  /// Creates the trail of a session that was compacted; `time` is that of the snapshot.
  init(_ snapshot: SessionFold, at time: Timestamp) {
    current = TokenHistory(snapshot.state)
    earlier = .unknown
    guard let request = snapshot.intents.request, request.sent.generation == current?.generation
    else { return }
    // The time of sending is not known any more, and no answer shows it.
    let sent = SessionRecord(
      sequence: request.sequence, time: time, content: .note(.requestSent(request.sent)))
    current?.send(RequestTrace(sent: Fact(sent, batch: request.sequence)))
  }

  /// Notes that uses of the tokens may be missing.
  mutating func doubt() {
    current?.isWhole = false
    earlier.isWhole = false
  }

  /// Starts the history of a token whose announcement is missing, if it is a newer one.
  mutating func meet(_ generation: Generation, at time: Timestamp) {
    guard generation > current?.generation ?? .none else { return }
    replace(by: .lost(generation, at: time))
    earlier.isWhole = false
  }

  mutating func announce(_ newer: TokenMetadata, _ fact: Fact, isRecovered: Bool) {
    // If a token was recovered, or a generation is skipped, records are missing.
    let isNext = newer.generation == current?.generation.next
    replace(by: TokenHistory(newer, announced: fact, isWhole: isNext && !isRecovered))
  }

  private mutating func replace(by newer: TokenHistory) {
    // A copy of the whole history for each token would take much of the time.
    if let requests = current?.requests, let isComplete = current?.isComplete {
      earlier.add(requests, isComplete: isComplete)
    }
    current = newer
  }

  /// Takes a record that may end a request.
  mutating func end(_ fact: Fact, in batch: BatchTrail, _ processes: ProcessTrail) {
    guard let number = fact.answers else { return }
    current?.end(number, fact, among: processes) {
      $0.loss(notedBy: fact, in: batch.opening, processes)
    }
    // A request that was presumed lost with the token before may end late.
    earlier.end(number, fact)
  }

  /// Takes a request with the newest token.
  mutating func send(
    _ sent: SessionNote.RequestSent, _ fact: Fact, in batch: BatchTrail, _ processes: ProcessTrail
  ) {
    let sender = Opener(sent)
    // A process that presumes a request lost and sends the next one in the same batch has replaced
    // its sender.
    for number in batch.lost where batch.opening == nil {
      current?.lose(number) { request in
        if case .lost(.restarted(let taker)) = request.fate { return .restarted(by: taker) }
        guard let before = request.sent.requestSent, let end = request.end,
          !Opener(before).mayBe(sender)
        else { return .unnoted }
        let taker = RequestTrace.Taker(fact: fact)
        // A time before that of the request cannot be compared with its deadline.
        guard end.time >= request.sent.time else { return .taken(by: taker) }
        return end.time < before.deadline ? .gone(by: taker) : .overtaken(by: taker)
      }
    }
    var request = RequestTrace(sent: fact)
    request.boot = processes.boot
    request.life = processes.opening(of: sender)
    request.isCertain = processes.isCertain(sender)
    current?.send(request)
  }
}
