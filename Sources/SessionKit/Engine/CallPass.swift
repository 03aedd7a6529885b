import SessionCore

/// What a session shows to a call.
///
/// It is created when the session changes, so that reading it costs one lock and one reference.
final class CallPass: Sendable {
  private let observed: CallPlan.Observed
  /// The uptime at which the token expires, on the monotonic clock.
  private let deadline: Int64
  private let token: Secret
  /// The token with the scheme `Bearer`, created once, since most calls carry it in this form.
  private let bearer: Secret

  /// Creates the pass of a session that is not open yet.
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

  /// Returns the token in the form in which a call carries it.
  func token(in place: CallTokenPlace) -> CarriedToken {
    switch place {
    case .bearer: CarriedToken(place: place, secret: bearer)
    case .header(_, let scheme?):
      CarriedToken(place: place, secret: Secret("\(scheme) \(token.plaintext)"))
    case .header(_, nil), .member: CarriedToken(place: place, secret: token)
    }
  }

  /// Returns what the pass shows at this uptime of the monotonic clock.
  func observed(at uptime: Int64) -> CallPlan.Observed {
    guard uptime >= deadline, case .holding(let owner, let generation, _) = observed else {
      return observed
    }
    return .holding(owner, generation, isGood: false)
  }

  /// Returns whether the pass shows the same as a snapshot.
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
