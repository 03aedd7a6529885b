import Foundation
@_spi(Internals) import SessionCore

/// Makes protected calls of one session, by the rules of `Specs/Calls.md` for every carrier.
///
/// - Requirement: INT-1, INT-2, INT-3
package struct CallRunner<Carrier: CallCarrier>: Sendable {
  private let session: Session
  let carrier: Carrier
  private let map: CallMap
  private let backend: any AuthBackend
  private let trace: (@Sendable (CallTrace) -> Void)?

  init(
    _ session: Session, carrier: Carrier, rules: CallRules,
    trace: (@Sendable (CallTrace) -> Void)?
  ) {
    self.session = session
    self.carrier = carrier
    self.trace = trace
    backend = session.engine.configuration.backend
    map = CallMap(rules, backend)
  }

  private init<Other>(_ calls: CallRunner<Other>, carrier: Carrier) {
    (session, map, backend, trace) = (calls.session, calls.map, calls.backend, calls.trace)
    self.carrier = carrier
  }

  /// Returns a runner that makes the same calls with another carrier.
  func carried<Other: CallCarrier>(by carrier: Other) -> CallRunner<Other> {
    CallRunner<Other>(self, carrier: carrier)
  }

  /// Makes a call, and repeats it if the rules say so.
  ///
  /// Throws the errors of the carrier, and a ``SessionError`` if there is no token for the call.
  package func send(_ request: Carrier.Request, as mark: CallMark = .byRules) async throws
    -> Carrier.Response
  {
    let head = carrier.head(of: request, token: map.token)
    var plan = CallPlan(
      map.target(head, mark), isRepeatable: head.isRepeatable, attempts: map.attempts(head))
    var last: Result<Carrier.Response, any Error> = .failure(SessionError.notSignedIn)
    var pass = session.pass
    var step = plan.next(.begun(session.observed(pass)))
    // Whether the last response refused the session's token; `nil` if none carried it.
    var isRefused: Bool?
    var need: UserNeed?
    while true {
      switch step {
      case .send(let generation):
        note(head, .sent(generation))
        do {
          let token =
            generation == nil
            ? nil : pass.token(in: map.token, provedBy: map.proof, clock: session.callClock)
          let (response, isOfProof) = try await send(request, with: token, generation, head)
          let status = carrier.status(of: response)
          note(head, .answered(status: status))
          last = .success(response)
          if let token, let generation, let status {
            session.note(token, generation, answeredWith: status)
          }
          let (failure, demand) = isOfProof ? (nil, nil) : self.failure(response, status)
          if generation != nil { isRefused = failure?.kind == .rejected }
          if let failure, failure.kind.isOfAccount, let owner = plan.owner, generation != nil {
            await session.callTold(failure, of: owner)
          }
          if failure?.kind == .rejected {
            pass = session.pass
            step = plan.next(.refused(session.observed(pass)))
            if let new = plan.refusedNew { session.note(refusedNew: new) }
          } else if let failure, failure.kind == .userNeeded, let generation {
            pass = session.pass
            step = plan.next(.needsUser(session.observed(pass)))
            if step == .fail(.userNeeded) {
              need = await session.needsUser(
                SessionNote.UserNeeded(
                  generation: generation, isOfCall: true, failure: failure, demand: demand))
            }
          } else {
            step = plan.next(.answered)
          }
        } catch ProofKeyError.gone {
          // No token helps without the key. The refresh finds the same, and ends the session.
          last = .failure(SessionError(.gone))
          pass = session.pass
          step = plan.next(.refused(session.observed(pass)))
        } catch let error as ProofKeyError {
          last = .failure(SessionError(error))
          step = plan.next(.lost(isTransient: false))
        } catch {
          last = .failure(error)
          step = plan.next(.lost(isTransient: carrier.isTransient(error)))
        }
      case .ask(let need):
        if case .unlessNewer(let refused) = need,
          !session.mayRefresh(refused: refused, map.window)
        {
          step = plan.next(.limited)
          continue
        }
        note(head, .waits)
        do throws(SessionError) {
          _ = try await session.refresh(need.trigger, need)
          pass = session.pass
          step = plan.next(.refreshed(session.observed(pass)))
        } catch {
          let hasNothing = error == .noRefreshToken
          step = plan.next(.notRefreshed(hasNothing: hasNothing))
          if step != .deliver { last = .failure(error) }
        }
      case .pause(let attempt):
        do throws(SessionError) {
          try await session.rest(before: attempt) { note(head, .rests(.milliseconds($0))) }
        } catch {
          note(head, .failed)
          throw error
        }
        pass = session.pass
        step = plan.next(.backoffEnded(session.observed(pass)))
      case .deliver:
        settle(isRefused)
        return try last.get()
      case .fail(let reason):
        note(head, .failed)
        settle(isRefused)
        if reason == .userNeeded, let need { throw SessionError.userNeeded(need) }
        if reason.isOfSession, let lost = session.replacement { throw lost }
        if reason == .unread, let problem = session.tokenProblem { throw problem }
        guard let error = reason.error(head, after: session.endCause) else { return try last.get() }
        throw error
      }
    }
  }

  /// Sends the call with the token, and again if the server refuses only its proof.
  ///
  /// Returns whether the response refuses the proof: no other token would be accepted.
  private func send(
    _ request: Carrier.Request, with token: CallToken?, _ generation: Generation?, _ head: CallHead
  ) async throws -> (Carrier.Response, isOfProof: Bool) {
    var outgoing = request
    if let token { try carrier.authorize(&outgoing, with: token) }
    guard let proofs = token?.proofs, let url = head.url else {
      return (try await carrier.send(outgoing), false)
    }
    var repeated: Set<String> = []
    while true {
      let proof = try await proofs.made(head.method, url)
      try carrier.authorize(&outgoing, with: CallToken(proof, next: proofs))
      let response = try await carrier.send(outgoing)
      guard carrier.status(of: response) != nil else { return (response, false) }
      let verdict = proofs.take(carrier.content(of: response), to: proof)
      guard head.isRepeatable, let news = verdict.news, repeated.insert(news).inserted else {
        return (response, verdict.isRefused)
      }
      note(head, .answered(status: carrier.status(of: response)))
      note(head, .sent(generation))
    }
  }

  /// Returns the failure of the token or of the user's account that the response states by the
  /// backend's rules, and what it demands of the user.
  private func failure(_ response: Carrier.Response, _ status: Int?)
    -> (RequestFailure?, AuthenticationDemand?)
  {
    guard let status, map.mayTell(status) else { return (nil, nil) }
    let content = carrier.content(of: response)
    let failure = map.failure(content)
    guard failure?.kind.isOfAccount != true, (400...499).contains(status),
      let found = AuthenticationChallenge.demand(in: content.fields, backend.errorCodes)
    else { return (failure, nil) }
    let needed = RequestFailure(
      kind: .userNeeded, status: UInt16(clamping: status),
      recordedCode: RequestFailure.kept(found.code, isNamed: true), retryAfter: nil)
    return (needed, found.demand)
  }

  private func settle(_ isRefused: Bool?) {
    guard let isRefused, let other = map.otherPlace else { return }
    session.note(isRefused: isRefused, at: map.token, notAt: other)
  }

  private func note(_ head: CallHead, _ step: CallTrace.Step) {
    guard let trace else { return }
    trace(CallTrace(method: head.method, path: head.url?.path ?? "", step: step))
  }
}

extension CallRunner {
  /// The identity of the backend, without the session.
  package var description: String { "calls by \(backend.identity)" }
}

extension RefreshNeed {
  fileprivate var trigger: RefreshTrigger {
    if case .unlessNewer = self { .unauthorized } else { .command }
  }
}

extension CallPlan.Reason {
  /// Whether the call fails because of the session's state.
  fileprivate var isOfSession: Bool {
    switch self {
    case .expired, .ended, .unread: true
    case .insecure, .foreign, .userNeeded, .cause: false
    }
  }

  /// Returns the error that the call throws; `nil` for the last error that occurred.
  fileprivate func error(_ head: CallHead, after end: EndCause) -> SessionError? {
    switch self {
    case .insecure:
      .wrongAddress(
        "the address of \(head.url?.host ?? "the server") is not HTTPS, which is required except "
          + "for loopback")
    case .foreign:
      .unusableCall(
        call: head.name,
        problem: "the token does not belong to \(head.url?.host ?? "an address without a host"); "
          + "add its origin to CallRules.origins if it does")
    case .expired: .expired(end)
    case .ended: .loggedOut(end)
    case .unread: .secretsUnavailable
    case .userNeeded, .cause: nil
    }
  }
}
