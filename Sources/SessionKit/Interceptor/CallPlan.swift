@_spi(Internals) package import SessionCore

/// The rule of a protected call as a value: what happened goes in, what to do next comes out.
///
/// It sends nothing, waits for nothing and knows no token, so that every way a call can go is a list
/// of inputs; `Specs/Calls.md` has them row by row. A call belongs to the session in which it was
/// first sent, and gets no token of another one.
///
/// - Requirement: INT-1, INT-2, INT-3, OUT-4
package struct CallPlan: Hashable, Sendable {
  /// What a call may carry.
  package enum Target: Hashable, Sendable, CaseIterable {
    /// The session's token.
    case own
    /// What the caller put there, and nothing of the session: it has something in the token's place
    /// already, its path is public, it goes to another origin, or it is marked as plain.
    case plain
    /// Nothing: it is marked as authenticated, and goes to an origin that the token does not belong to.
    case foreign
    /// Nothing: it would carry the token where others can read it.
    ///
    /// - Requirement: STO-4
    case insecure
  }

  /// Whose session it is: one that the same user begins later is another.
  package struct Owner: Hashable, Sendable {
    /// The user.
    package let user: Identifier
    /// When the user signed in.
    package let since: Timestamp

    /// A session of this user that began then.
    package init(user: Identifier, since: Timestamp) {
      (self.user, self.since) = (user, since)
    }
  }

  /// What the session shows at the moment.
  package enum Observed: Hashable, Sendable {
    /// Nobody is signed in.
    case nobody
    /// The session of this user has expired.
    case expired(Identifier)
    /// Somebody is signed in, and the token cannot be read yet.
    case unread(Owner)
    /// A token, and whether its life is not over.
    case holding(Owner, Generation, isGood: Bool)
  }

  /// What happened.
  package enum Input: Hashable, Sendable {
    /// The call was made.
    case begun(Observed)
    /// An answer came that is the caller's.
    case answered
    /// An answer came that says that the token is good for nothing.
    case refused(Observed)
    /// The session says that there is a newer token.
    case refreshed(Observed)
    /// The window lets no refused call cause a refresh now.
    ///
    /// - Requirement: REF-13
    case limited
    /// The session has an error instead; whether that is for want of a refresh token.
    case notRefreshed(hasNothing: Bool)
    /// No answer came; whether a network is to blame, so that trying again may help.
    case lost(mayPass: Bool)
    /// The pause is over.
    case backoffEnded(Observed)
  }

  /// What to do next.
  package enum Step: Hashable, Sendable {
    /// Send it: with the token of this generation, or as it is.
    case send(Generation?)
    /// Ask the session for a newer token, and say what came of it.
    case ask(RefreshNeed)
    /// Wait before the attempt with this number, the first being 1.
    case pause(attempt: UInt32)
    /// The last answer is the caller's.
    case deliver
    /// The call fails.
    case fail(Reason)
  }

  /// Why a call fails.
  package enum Reason: Hashable, Sendable, CaseIterable {
    /// It would go where others can read the token.
    case insecure
    /// It would go to an origin that the token does not belong to.
    case foreign
    /// The session that it belongs to has expired.
    case expired
    /// The session that it belongs to is over.
    case ended
    /// The token cannot be read yet.
    case unread
    /// The last error, of the session or of the network, is the call's.
    case cause
  }

  private enum Phase: Hashable, Sendable {
    case new, asking, sent, refused, backingOff, over
  }

  private let target: Target
  /// Whether its body can be sent once more.
  private let isRepeatable: Bool
  /// How many attempts the network may cost; 1 for no second one.
  private let attempts: UInt32

  private var phase = Phase.new
  /// Whose the call is; known before the session is where that had expired when the call was made.
  private var user: Identifier?
  /// When the session began in which it goes out.
  private var since: Timestamp?
  private var used = Generation.none
  private var hasRepeated = false
  /// Whether the session got a newer token because this call was refused.
  private var hasCausedRefresh = false
  private var attempt: UInt32 = 1

  /// The plan of one call; `attempts` is 1 unless a network failure may be answered with another one.
  package init(_ target: Target, isRepeatable: Bool, attempts: UInt32 = 1) {
    (self.target, self.isRepeatable, self.attempts) = (target, isRepeatable, attempts)
  }

  /// The session in which the call was sent; `nil` before that, and for a call without its token.
  package var owner: Owner? {
    guard let user, let since else { return nil }
    return Owner(user: user, since: since)
  }

  /// The token that was got because this call was refused, and that was refused as well.
  ///
  /// - Requirement: REF-13
  package private(set) var refusedNew: Generation?

  /// Takes in what happened, and says what to do next.
  ///
  /// What makes no sense where the call is, such as an answer to what was not sent, fails it.
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
    case (.sent, .lost(let mayPass)): lost(mayPass)
    case (.asking, .refreshed(let observed)): send(observed)
    case (.refused, .refreshed(let observed)): refreshed(observed)
    // The response says more than that there is nothing to refresh with, or that it is too often.
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
    // A view that shows nobody may be out of date: the session looks before it says so.
    belong(to: observed)
    return .ask(.ifExpired)
  }

  /// With whatever token there is: that there is one is the session's word.
  private mutating func send(_ observed: Observed) -> Step {
    if let reason = strange(observed) { return .fail(reason) }
    switch observed {
    case .nobody: return .fail(.ended)
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

  private mutating func refreshed(_ observed: Observed) -> Step {
    hasCausedRefresh = true
    return repeated(observed)
  }

  private mutating func repeated(_ observed: Observed) -> Step {
    if let reason = strange(observed) { return .fail(reason) }
    guard isRepeatable else { return .deliver }
    // The same token once more would be refused once more.
    if case .holding(_, let generation, _) = observed, generation <= used { return .deliver }
    hasRepeated = true
    return send(observed)
  }

  private mutating func lost(_ mayPass: Bool) -> Step {
    guard mayPass, isRepeatable, attempt < attempts else { return .fail(.cause) }
    attempt += 1
    return .pause(attempt: attempt)
  }

  /// Why a call that has an owner may not go on with what the session shows now.
  private func strange(_ observed: Observed) -> Reason? {
    guard let user else { return nil }
    switch observed {
    case .nobody: return .ended
    // What was made of an expired session waits for its user, and for nobody else.
    case .expired(let other): return other != user ? .ended : since == nil ? nil : .expired
    case .unread(let other), .holding(let other, _, _):
      return other.user == user && other.since == since ?? other.since ? nil : .ended
    }
  }

  private mutating func belong(to observed: Observed) {
    switch observed {
    case .nobody: break
    case .expired(let user): self.user = user
    case .unread(let owner), .holding(let owner, _, _): (user, since) = (owner.user, owner.since)
    }
  }
}
