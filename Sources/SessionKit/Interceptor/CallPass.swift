import SessionCore

/// What a session shows to a call: made when it changes, so that reading it is one lock and one
/// reference.
final class CallPass: Sendable {
  private let observed: CallPlan.Observed
  /// When the token dies, on the clock that never jumps.
  private let deadline: Int64
  private let token: Secret
  /// The token with its scheme, made once: most calls carry it so.
  private let bearer: Secret

  /// Before a session is opened.
  init() {
    (observed, deadline, token, bearer) = (.nobody, .min, Secret(""), Secret(""))
  }

  init(_ shown: SessionView.Snapshot) {
    deadline = shown.deadline
    switch shown.state {
    case .unauthenticated: (observed, token, bearer) = (.nobody, Secret(""), Secret(""))
    case .expired(let session):
      (observed, token, bearer) = (.expired(session.user), Secret(""), Secret(""))
    case .authenticated(let session):
      let owner = CallPlan.Owner(user: session.user, since: session.since)
      if let access = shown.token {
        observed = .holding(owner, access.generation, isGood: true)
        (token, bearer) = (access.secret, Secret("Bearer \(access.plaintext)"))
      } else {
        (observed, token, bearer) = (.unread(owner), Secret(""), Secret(""))
      }
    }
  }

  /// The token as a call carries it.
  func token(in place: CallTokenPlace) -> CarriedToken {
    switch place {
    case .bearer: CarriedToken(place: place, secret: bearer)
    case .header(_, let scheme?):
      CarriedToken(place: place, secret: Secret("\(scheme) \(token.plaintext)"))
    case .header(_, nil), .member: CarriedToken(place: place, secret: token)
    }
  }

  /// What it shows when the clock that never jumps shows `uptime`.
  func observed(at uptime: Int64) -> CallPlan.Observed {
    guard uptime >= deadline, case .holding(let owner, let generation, _) = observed else {
      return observed
    }
    return .holding(owner, generation, isGood: false)
  }

  /// Whether it shows the same.
  func shows(_ shown: SessionView.Snapshot) -> Bool {
    guard deadline == shown.deadline else { return false }
    switch (observed, shown.state) {
    case (.nobody, .unauthenticated): return true
    case (.expired(let user), .expired(let session)): return user == session.user
    case (.unread(let owner), .authenticated(let session)):
      return shown.token == nil && owner.since == session.since && owner.user == session.user
    case (.holding(let owner, let generation, _), .authenticated(let session)):
      return shown.token?.generation == generation && owner.since == session.since
        && owner.user == session.user
    default: return false
    }
  }
}
