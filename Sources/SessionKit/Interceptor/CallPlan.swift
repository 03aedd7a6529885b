@_spi(Internals) package import SessionCore

/// A state machine that decides the next step of a protected call from each input.
///
/// It sends nothing, waits for nothing and knows no token. So a test can describe each course of a
/// call as a list of inputs, and `Specs/Calls.md` lists them. A call belongs to the session in
/// which it was first sent, and gets no token of another one.
///
/// - Requirement: INT-1, INT-2, INT-3, OUT-4
package struct CallPlan: Hashable, Sendable {
  /// What a call may carry.
  package enum Target: Hashable, Sendable, CaseIterable {
    /// The session's token.
    case own
    /// No token of the session.
    ///
    /// The call has its own value in the token's place, its path is public, it goes to another
    /// origin, or it is marked as plain.
    case plain
    /// Nothing is sent: the call is marked as authenticated, but the token does not belong to its
    /// origin.
    case foreign
    /// Nothing is sent: others could read the token on the way.
    ///
    /// - Requirement: STO-4
    case insecure
  }

  /// The session to which a call belongs.
  ///
  /// A later session of the same user is another owner.
  package struct Owner: Hashable, Sendable {
    /// The user.
    package let user: Identifier
    /// The time at which the user signed in.
    package let since: Timestamp

    /// Creates the owner for a session of this user that began at this time.
    package init(user: Identifier, since: Timestamp) {
      (self.user, self.since) = (user, since)
    }
  }

  /// What the session shows now.
  package enum Observed: Hashable, Sendable {
    /// No user is signed in.
    case noUser
    /// The session of this user has expired.
    case expired(Identifier)
    /// A user is signed in, but the token cannot be read yet.
    case unread(Owner)
    /// There is a token.
    ///
    /// `isGood` says that it has not expired.
    case holding(Owner, Generation, isGood: Bool)
  }

  /// An input of the machine.
  package enum Input: Hashable, Sendable {
    /// The caller made the call.
    case begun(Observed)
    /// The server responded, and the response is for the caller.
    case answered
    /// The server responded that the token is not valid.
    case refused(Observed)
    /// The server takes the call only if the user authenticates.
    ///
    /// - Requirement: STA-9
    case needsUser(Observed)
    /// The session reports a newer token.
    case refreshed(Observed)
    /// The limit does not allow a refused call to cause a refresh now.
    ///
    /// - Requirement: REF-13
    case limited
    /// The session reports an error.
    ///
    /// `hasNothing` says that it has no refresh token.
    case notRefreshed(hasNothing: Bool)
    /// There was no response.
    ///
    /// `isTransient` says that the network is the cause, so that trying again may help.
    case lost(isTransient: Bool)
    /// The pause is over.
    case backoffEnded(Observed)
  }

  /// The next step of a call.
  package enum Step: Hashable, Sendable {
    /// Send the call with the token of this generation, or unchanged.
    case send(Generation?)
    /// Ask the session for a newer token, and report the result.
    case ask(RefreshNeed)
    /// Wait before the attempt with this number.
    ///
    /// The first attempt is 1.
    case pause(attempt: UInt32)
    /// Return the last response to the caller.
    case deliver
    /// The call fails.
    case fail(Reason)
  }

  /// Why a call fails.
  package enum Reason: Hashable, Sendable, CaseIterable {
    /// Others could read the token on the way.
    case insecure
    /// The token does not belong to the origin of the call.
    case foreign
    /// The session to which the call belongs has expired.
    case expired
    /// The session to which the call belongs is over.
    case ended
    /// The token cannot be read yet.
    case unread
    /// The server takes the call only if the user authenticates.
    case userNeeded
    /// The last error, of the session or of the network.
    case cause
  }

  private enum Phase: Hashable, Sendable {
    case new, asking, sent, refused, backingOff, over
  }

  private let target: Target
  /// Whether the body can be sent a second time.
  private let isRepeatable: Bool
  /// The number of attempts if the network fails; 1 for no second attempt.
  private let attempts: UInt32

  private var phase = Phase.new
  /// The user to whom the call belongs.
  ///
  /// If the session had expired at the start, it is known before ``since``.
  private var user: Identifier?
  /// When the session began in which the call is sent.
  private var since: Timestamp?
  private var used = Generation.none
  private var hasRepeated = false
  /// Whether this call, after it was refused, caused the session to get a newer token.
  private var hasCausedRefresh = false
  private var attempt: UInt32 = 1

  /// Creates the plan of one call.
  ///
  /// `attempts` is 1 unless the call may be sent again after a network failure.
  package init(_ target: Target, isRepeatable: Bool, attempts: UInt32 = 1) {
    (self.target, self.isRepeatable, self.attempts) = (target, isRepeatable, attempts)
  }

  /// The session in which the call was sent; `nil` before it is sent, and for a call without the
  /// session's token.
  package var owner: Owner? {
    guard let user, let since else { return nil }
    return Owner(user: user, since: since)
  }

  /// The generation of a token that was requested for this call and was refused as well.
  ///
  /// - Requirement: REF-13
  package private(set) var refusedNew: Generation?

  /// Handles an input and returns the next step.
  ///
  /// An input that does not fit the state, such as a response before the call was sent, fails the
  /// call.
  package mutating func next(_ input: Input) -> Step {
    let step = decide(input)
    switch step {
    case .send(let generation):
      phase = .sent
      if let generation { used = generation }
    case .ask: phase = phase == .sent ? .refused : .asking
    case .pause: phase = .backingOff
    case .deliver, .fail: phase = .over
    }
    return step
  }

  private mutating func decide(_ input: Input) -> Step {
    switch (phase, input) {
    case (.new, .begun(let observed)), (.backingOff, .backoffEnded(let observed)): begin(observed)
    case (.sent, .answered): .deliver
    case (.sent, .refused(let observed)): refused(observed)
    case (.sent, .needsUser(let observed)): needsUser(observed)
    case (.sent, .lost(let isTransient)): lost(isTransient)
    case (.asking, .refreshed(let observed)): send(observed)
    case (.refused, .refreshed(let observed)): refreshed(observed)
    // The response tells the caller more than that there is no refresh token, or that the limit is
    // reached.
    case (.refused, .notRefreshed(hasNothing: true)), (.refused, .limited): .deliver
    default: .fail(.cause)
    }
  }

  private mutating func begin(_ observed: Observed) -> Step {
    switch target {
    case .plain: return .send(nil)
    case .insecure: return .fail(.insecure)
    case .foreign: return .fail(.foreign)
    case .own: break
    }
    if let reason = strange(observed) { return .fail(reason) }
    if case .holding(_, _, isGood: true) = observed { return send(observed) }
    // A view without a user may be out of date, so the session reads the journal before it decides.
    belong(to: observed)
    return .ask(.ifExpired)
  }

  /// Sends the call with the token that the session has.
  ///
  /// The session decides that it is valid.
  private mutating func send(_ observed: Observed) -> Step {
    if let reason = strange(observed) { return .fail(reason) }
    switch observed {
    case .noUser: return .fail(.ended)
    case .expired: return .fail(.expired)
    case .unread: return .fail(.unread)
    case .holding(_, let generation, _):
      belong(to: observed)
      return .send(generation)
    }
  }

  private mutating func refused(_ observed: Observed) -> Step {
    guard target == .own, !hasRepeated else {
      if hasCausedRefresh { refusedNew = used }
      return .deliver
    }
    if let reason = strange(observed) { return .fail(reason) }
    if case .holding(_, let generation, isGood: true) = observed, generation > used {
      return repeated(observed)
    }
    return .ask(.unlessNewer(than: used))
  }

  /// A refresh would bring a token of the same authentication (RFC 9470 §6), so none is made.
  private mutating func needsUser(_ observed: Observed) -> Step {
    guard target == .own else { return .deliver }
    if let reason = strange(observed) { return .fail(reason) }
    // Another caller may have let the user authenticate meanwhile.
    if !hasRepeated, isRepeatable, case .holding(_, let generation, isGood: true) = observed,
      generation > used
    {
      return repeated(observed)
    }
    return .fail(.userNeeded)
  }

  private mutating func refreshed(_ observed: Observed) -> Step {
    hasCausedRefresh = true
    return repeated(observed)
  }

  private mutating func repeated(_ observed: Observed) -> Step {
    if let reason = strange(observed) { return .fail(reason) }
    guard isRepeatable else { return .deliver }
    // The same token would be refused again.
    if case .holding(_, let generation, _) = observed, generation <= used { return .deliver }
    hasRepeated = true
    return send(observed)
  }

  private mutating func lost(_ isTransient: Bool) -> Step {
    guard isTransient, isRepeatable, attempt < attempts else { return .fail(.cause) }
    attempt += 1
    return .pause(attempt: attempt)
  }

  /// Returns why a call that has an owner must not continue with what the session shows now.
  private func strange(_ observed: Observed) -> Reason? {
    guard let user else { return nil }
    switch observed {
    case .noUser: return .ended
    // A call that began in an expired session waits for its user only.
    case .expired(let other): return other != user ? .ended : since == nil ? nil : .expired
    case .unread(let other), .holding(let other, _, _):
      return other.user == user && other.since == since ?? other.since ? nil : .ended
    }
  }

  private mutating func belong(to observed: Observed) {
    switch observed {
    case .noUser: break
    case .expired(let user): self.user = user
    case .unread(let owner), .holding(let owner, _, _): (user, since) = (owner.user, owner.since)
    }
  }
}
