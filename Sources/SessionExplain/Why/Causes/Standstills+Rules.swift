@_spi(Internals) import SessionCore

/// A failure that a later attempt repeats: waiting does not help.
enum Standstill: Hashable {
  case refused, signInDemanded, appRefused, endpointMissing, unreadable, blocked

  init?(_ failure: RequestFailure) {
    let isNotThere = failure.status == 404 || failure.status == 405
    switch failure.kind {
    case .unexpected:
      let meaning = failure.serverCode.flatMap { ErrorMeaning(code: $0) }
      if meaning == .clientRefused {
        self = .appRefused
      } else if ServerReason(failure.serverCode) == .signIn {
        self = .signInDemanded
      } else {
        // Another code than the name of the status comes from a server that has the endpoint.
        let isBare =
          failure.serverCode.map(["NOT_FOUND", "METHOD_NOT_ALLOWED"].contains) != false
          || meaning == .unspecified
        self = isNotThere && isBare || Self.isRedirect(failure) ? .endpointMissing : .refused
      }
    case .userNeeded: self = .signInDemanded
    case .unreadable: self = .unreadable
    case .intercepted where failure.status == 403: self = .blocked
    case .intercepted where failure.serverCode == RequestFailure.movedAddress || isNotThere:
      self = .endpointMissing
    // A Wi-Fi's page is found by a temporary redirect to another origin; a lasting one (RFC 9110
    // §15.4.2 and §15.4.9) says that an address was moved.
    case .intercepted where failure.status == 301 || failure.status == 308: self = .endpointMissing
    default: return nil
    }
  }

  static func isRedirect(_ failure: RequestFailure) -> Bool { 300...399 ~= failure.status }

  /// How often it must be met: only a code or an address says at once that it stays so.
  var least: UInt64 {
    switch self {
    case .signInDemanded, .appRefused, .endpointMissing: 1
    case .refused, .unreadable, .blocked: 2
    }
  }

  /// The newest requests of a token, all with the same such failure.
  struct Run {
    let standstill: Standstill
    let failure: RequestFailure
    /// The number of those in the records.
    var count: UInt64 = 1
    /// The known and the possible number of those before a compaction.
    var compacted: ClosedRange<UInt64> = 0...0
    var first: Fact?
    var last: Fact?

    var isLongEnough: Bool { count + compacted.upperBound >= standstill.least }
    var certainty: Certainty {
      count + compacted.lowerBound >= standstill.least ? .proven : .possible
    }
  }
}

extension ExplanationDraft {
  /// The run at the end of the token's requests; `nil` if a later attempt may succeed.
  func standstill(_ last: RequestFailure) -> Standstill.Run? {
    var run: Standstill.Run?
    var isOver = false
    for request in (token?.requests ?? []).reversed() where request.isRefresh && !isOver {
      guard case .failed(let failure) = request.outcome else { continue }
      // A request that reached nothing says nothing about the server.
      guard failure.kind.isAnswered || failure.kind == .intercepted else { continue }
      let standstill = Standstill(failure)
      let end = request.late ?? request.end
      if let found = run {
        isOver = found.standstill != standstill
        if !isOver {
          run?.count += 1
          run?.first = end
        }
      } else {
        guard let standstill else { return nil }
        run = Standstill.Run(standstill: standstill, failure: failure, first: end, last: end)
      }
    }
    // A snapshot has the number of failures and the last one; the others may differ from it.
    let compacted = token?.compacted
    if !isOver, let failure = compacted?.last ?? (run == nil ? last : nil),
      let standstill = Standstill(failure), run.map({ $0.standstill == standstill }) ?? true
    {
      let alike = compacted.map {
        failure.kind.isAnswered ? $0.answered : $0.total - $0.answered
      }
      run = run ?? Standstill.Run(standstill: standstill, failure: failure, count: 0)
      run?.compacted = 1...UInt64(max(1, alike ?? 1))
    }
    return run.flatMap { $0.isLongEnough ? $0 : nil }
  }

  /// Explains a session that no later attempt can renew.
  mutating func explainStandstill(_ run: Standstill.Run, in session: SessionState.Authenticated) {
    let failure = run.failure
    if let first = run.first, let last = run.last {
      prove(
        .outcomeSince,
        [
          .counted(run.count, "attempt"), .place(first.sequence), .place(last.sequence),
          Self.words(failure),
        ], on: first, last)
    }
    prove(.nobodyEnded)
    switch run.standstill {
    case .refused:
      conclude(.stillRefused, run.certainty)
      showCode(failure)
      switch failure.serverCode {
      case RequestFailure.codeNotKept?: advise(.nameCodes)
      case let code?: advise(.lookUpCode, [.word(code)])
      case nil: advise(.tellingCode)
      }
    case .signInDemanded:
      conclude(.stillSignInDemanded, .proven)
      showCode(failure)
      advise(.giveFactor)
    case .appRefused:
      conclude(.stillAppRefused, .proven)
      showCode(failure)
      advise(.checkClient)
    case .endpointMissing: explainMissing(failure)
    case .unreadable:
      conclude(.stillUnreadable, run.certainty)
      infer(.wireDoesNotFit, min(.likely, run.certainty))
      advise(.compareWire)
    case .blocked:
      conclude(.stillBlocked, run.certainty)
      maybe(.refusedInFront, .refusedBare, .captivePortal)
      advise(.lookInFront)
    }
    adviseServerLog(near: run.last)
    advise(.doNotWait)
    // After a single failure the core refuses the login (`SessionCoordinator.isNotRenewed`).
    if session.failures.total > 1, let token, token.facts.isLifetimeKnown, !token.isLost {
      advise(.loginAfterEnd, [.time(token.facts.expiresAt)])
    }
  }

  private mutating func explainMissing(_ failure: RequestFailure) {
    let isServers =
      failure.kind != .intercepted || failure.serverCode == RequestFailure.movedAddress
    conclude(
      .stillEndpointMissing, isServers ? .proven : .possible, [.word("\(failure.status)")])
    if Standstill.isRedirect(failure) {
      infer(.addressMoved, isServers ? .likely : .possible)
    } else {
      infer(.wrongPath, isServers ? .likely : .possible)
    }
    advise(.checkPath)
    guard !isServers else { return }
    maybe(.captivePortal)
    advise(.networkSignIn)
  }
}
