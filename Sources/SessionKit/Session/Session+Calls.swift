@_spi(Internals) public import SessionCore
import Synchronization

// Protected calls (INT).
extension Session {
  /// Returns a runner that makes protected calls with a carrier.
  package func run<Carrier: CallCarrier>(
    _ carrier: Carrier, rules: CallRules, trace: (@Sendable (CallTrace) -> Void)?
  ) -> CallRunner<Carrier> {
    CallRunner(self, carrier: carrier, rules: rules, trace: trace)
  }

  /// The clock of the session.
  var callClock: any SessionClock { engine.configuration.clock }

  /// The part of the session's state that a call needs.
  var pass: CallPass { engine.view.pass }

  /// Why the session has ended, as far as this object knows.
  var endCause: EndCause { engine.view.current.end }

  /// Returns what a pass shows now.
  func observed(_ pass: CallPass) -> CallPlan.Observed {
    // A call counts as a use. After the inactivity limit it must not be sent with the token
    // (POL-5).
    let uptime = engine.configuration.clock.now().uptime
    return pass.observed(at: engine.use(at: uptime) ? uptime : .max)
  }

  /// Reports that a call's response had a code that states the status of the user's account.
  ///
  /// It counts like a response to the profile request.
  ///
  /// - Requirement: LOG-6
  func callTold(_ failure: RequestFailure, of owner: CallPlan.Owner) async {
    await engine.told(failure, of: owner)
  }

  /// Notes that a call needs the user, and returns the need as the app sees it.
  func needsUser(_ need: SessionNote.UserNeeded) async -> UserNeed {
    await engine.needsUser(need)
  }

  /// Returns whether a call may cause a refresh now, after the server refused this token.
  ///
  /// The first denial appears in the reports.
  ///
  /// - Requirement: REF-13
  func mayRefresh(refused generation: Generation, _ window: RefreshWindow?) -> Bool {
    guard let window else { return true }
    let uptime = engine.configuration.clock.now().uptime
    let verdict = engine.view.withRefusals { $0.ask(generation, at: uptime, window) }
    warn(verdict, generation)
    return verdict == .allowed
  }

  /// Records that a call was refused the token that had just been refreshed for it.
  ///
  /// - Requirement: REF-13
  func note(refusedNew generation: Generation) {
    let uptime = engine.configuration.clock.now().uptime
    warn(engine.view.withRefusals { $0.refused(new: generation, at: uptime) }, generation)
  }

  /// Records the outcome of a call whose token is elsewhere than in the backend's own requests.
  ///
  /// - Requirement: INT-5
  func note(isRefused: Bool, at place: CallTokenPlace, notAt other: CallTokenPlace) {
    guard engine.view.withRefusals({ $0.ended(isRefused: isRefused) }) else { return }
    engine.hub.warn(.tokenPlaceDiffers(calls: place, backend: other))
  }

  /// Reports a response that may refuse a token because its header field is long.
  ///
  /// Servers accept 8 KiB of a field and more (`CallsWithTokens`), but some count all fields
  /// together, so half of it can be too much.
  ///
  /// - Requirement: INT-5
  func note(_ token: CallToken, _ generation: Generation, answeredWith status: Int) {
    guard let bytes = token.fieldLength, bytes > 4_096,
      engine.view.withRefusals({ $0.refusesLong(generation, status: status) })
    else { return }
    engine.hub.warn(.longTokenRefused(bytes: bytes, status: status))
  }

  private func warn(_ verdict: RefusalHistory.Verdict, _ generation: Generation) {
    guard case .denied(let denial, isNews: true) = verdict else { return }
    engine.hub.warn(SessionWarning(denial, generation))
  }

  /// Waits before the attempt with this number, which is at least 2.
  func rest(before attempt: UInt32, telling tell: (Int64) -> Void) async throws(SessionError) {
    let configuration = engine.configuration
    let delay = engine.policy.retryDelay(
      failures: attempt - 1, jitter: engine.runtime.jitter())
    tell(delay)
    let end = configuration.clock.now().uptime.addingSaturating(delay)
    do throws(CancellationError) {
      try await configuration.clock.sleep(untilUptime: end)
    } catch {
      throw .cancelled
    }
  }
}

// Calls that need the user (STA-9).
extension Session {
  /// Makes a call, and repeats it once after the user has authenticated as the server asks.
  ///
  /// ```swift
  /// let (receipt, _) = try await session.call {
  ///   try await session.data(for: transfer)
  /// } askingUser: { need in
  ///   var code = code
  ///   code.further.merge(need.parameters) { _, asked in asked }
  ///   try await session.reauthenticate(.authorizationCode(code, on: page, prompt: .always))
  /// }
  /// ```
  ///
  /// If the call throws ``SessionError/Code/userNeeded``, `ask` runs and the call is made again. Errors of
  /// `ask` and of the second call are thrown. Of several calls that need the user at one time, the first asks:
  /// a second ``reauthenticate(_:)`` throws `busy`.
  ///
  /// - Requirement: LOG-16
  public func call<Value>(
    isolation: isolated (any Actor)? = #isolation, _ call: () async throws -> Value,
    askingUser ask: (UserNeed) async throws -> Void
  ) async throws -> Value {
    do {
      return try await call()
    } catch let error as SessionError {
      guard let need = error.userNeeded else { throw error }
      try await ask(need)
      return try await call()
    }
  }
}
