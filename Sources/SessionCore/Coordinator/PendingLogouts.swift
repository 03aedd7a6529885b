/// The logouts and other ends of the session that are in the journal, while the rest is done.
///
/// ```
///          begin              wiped              revocation ended, or none is needed
///  none ──────────▶ wiping ──────────▶ revoking ─────────────────────────────────────▶ none
///                                                                    the caller is resumed
/// ```
///
/// Several ends may be under way: a user who has logged in meanwhile may log out again. They are wiped in
/// the order in which they began.
///
/// - Requirement: OUT-1
struct PendingLogouts: Hashable, Sendable {
  private struct Logout: Hashable, Sendable {
    /// The caller that waits for it; `nil` after a cancellation, or if no caller asked.
    var caller: Caller?
    /// The token to be revoked; `nil` for none.
    let generation: Generation?
    var step = Step.wiping
  }

  private enum Step: Hashable, Sendable {
    /// Exits: `revoking`, when its wipe has ended.
    case wiping
    /// Exits: the logout is removed, when its revocation has ended or none is needed.
    case revoking(isWiped: Bool)
  }

  /// Oldest first.
  private var logouts: [Logout] = []
  /// The wipe that was requested last and has not ended.
  private var wipe: SessionEffect.Wipe?

  /// Whether a wipe was requested and has not ended.
  var isWiping: Bool { wipe != nil }

  /// Whether a logout waits for the revocation of this token.
  func waits(for generation: Generation) -> Bool {
    logouts.contains { $0.generation == generation }
  }

  /// Begins the end of a session: its items are wiped, then `generation` is revoked.
  mutating func begin(
    for caller: Caller?, revoking generation: Generation?, _ wipe: SessionEffect.Wipe
  ) -> [SessionEffect] {
    logouts.append(Logout(caller: caller, generation: generation))
    return request(wipe)
  }

  /// Requests a wipe.
  mutating func request(_ wipe: SessionEffect.Wipe) -> [SessionEffect] {
    self.wipe = wipe
    return [.wipe(wipe)]
  }

  /// Ends the wipe; returns what it was to wipe.
  ///
  /// If two ends each requested a wipe, the first result is for both. The second result returns `nil`,
  /// and continues with the logout that still waits.
  mutating func endWipe() -> SessionEffect.Wipe? {
    defer { wipe = nil }
    return wipe
  }

  /// Moves the oldest logout that waits for a wipe to its revocation.
  ///
  /// Returns the token to be revoked, or the effects that end a logout without one.
  mutating func wiped(completely isWiped: Bool) -> (revoke: Generation?, effects: [SessionEffect]) {
    guard let index = logouts.firstIndex(where: { $0.step == .wiping }) else { return (nil, []) }
    logouts[index].step = .revoking(isWiped: isWiped)
    guard let generation = logouts[index].generation else {
      return (nil, end(nil, nil, status: 0))
    }
    return (generation, [])
  }

  /// Ends the logout whose revocation has ended, and resumes its caller.
  mutating func end(
    _ generation: Generation?, _ outcome: RevocationOutcome?, status: UInt16
  ) -> [SessionEffect] {
    for (index, logout) in logouts.enumerated() where logout.generation == generation {
      guard case .revoking(let isWiped) = logout.step else { continue }
      logouts.remove(at: index)
      return logout.caller.map {
        [.resume($0, .loggedOut(outcome, status: status, isWiped: isWiped))]
      } ?? []
    }
    return []
  }

  /// Forgets a caller that was cancelled; its logout goes on.
  mutating func cancel(_ caller: Caller) {
    for index in logouts.indices where logouts[index].caller == caller {
      logouts[index].caller = nil
    }
  }

  /// Forgets all logouts, since the session object is closed; returns the callers that wait.
  mutating func close() -> [Caller] {
    defer { logouts = [] }
    return logouts.compactMap(\.caller)
  }
}
