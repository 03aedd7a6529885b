@_spi(Internals) public import SessionCore

/// Something that is not wrong yet and goes on for too long to be passed over.
public enum SessionWarning: Hashable, Sendable {
  /// `count` refreshes in a row failed in the same way, the last one with `last`.
  ///
  /// There are two ways: a server answered (``RequestFailure/Kind/isAnswered``), or none did.
  case refreshFailing(count: UInt32, last: RequestFailure)
  /// Records or stored items cannot be written: the session goes on with the token that it has, and they
  /// are written as soon as they can be.
  ///
  /// - Requirement: RES-6
  case storageFailing(SessionError)
  /// The journal should have been compacted and could not be: it gets longer than it should.
  case compactionFailing(SessionError)
  /// A journal that could not be used was set aside, and the session goes on in a new one.
  ///
  /// ``Session/journalSetAside`` is its file.
  ///
  /// - Requirement: RES-6
  case journalSetAside(ContinuationCause)
  /// A call was refused this token right after the refresh that brought it: its 401 was delivered.
  ///
  /// Reported once for each token.
  ///
  /// - Requirement: REF-13
  case newTokenRefused(Generation)
  /// A call was refused this token, and calls have caused as many refreshes as
  /// ``CallRules/maximumRefreshes`` allows: its 401 was delivered.
  ///
  /// Reported once for each token.
  ///
  /// - Requirement: REF-13
  case refreshLimitReached(Generation)

  /// A sign-in brought no refresh token at this place of the response, although the backend has an endpoint
  /// to refresh: the session ends with its access token.
  ///
  /// - Requirement: LOG-11
  case refreshTokenMissing(String)

  /// Two ways to fail, as the session's state counts them (`SessionState.RefreshFailures`).
  package enum FailureClass: String, CaseIterable, Sendable {
    /// A server answered: they count towards the policy's attempts.
    case answered = "answered"
    /// None did: no network, no reply, a page in between, secrets that cannot be read.
    case unanswered = "unanswered"
  }
}

extension SessionWarning: CustomStringConvertible {
  /// `10 refreshes in a row failed (answered), the last with: server 503`.
  public var description: String {
    switch self {
    case .refreshFailing(let count, let last):
      "\(count) refreshes in a row failed (\(last.kind.failureClass.rawValue)), the last with: \(last)"
    case .storageFailing(let error):
      "the session's records or items cannot be written: \(StorageIssue(error).rawValue)"
    case .compactionFailing(let error):
      "the journal cannot be compacted: \(StorageIssue(error).rawValue)"
    case .journalSetAside(let cause):
      "the journal could not be used (\(cause)) and was set aside; a new one goes on from it"
    case .refreshTokenMissing(let path):
      "the sign-in brought no refresh token: \(path) is missing in the response, and the backend has an "
        + "endpoint to refresh; the session ends with its access token. Correct the path "
        + "(the backend's response.refreshToken), or remove the endpoint"
    case .newTokenRefused(let generation):
      "a call was refused \(generation) right after the refresh that brought it; the refusal was "
        + "delivered, and no call refreshes this token within the window"
    case .refreshLimitReached(let generation):
      "a call was refused \(generation), and calls have caused as many refreshes as the window "
        + "allows; the refusal was delivered"
    }
  }
}

extension SessionWarning {
  /// The warning that a refused call caused no refresh.
  init(_ denial: RefreshDenial, _ generation: Generation) {
    self =
      switch denial {
      case .tokenIsNew: .newTokenRefused(generation)
      case .tooMany: .refreshLimitReached(generation)
      }
  }
}

extension RequestFailure.Kind {
  /// Whether a server answered, as the reports name it.
  package var failureClass: SessionWarning.FailureClass { isAnswered ? .answered : .unanswered }
}

/// Counts failures in a row as the fold does, and says when to warn: at 3, 10, 30, 100, 300 … of a class.
///
/// A new token begins anew, and so does whatever ends a session or begins one.
package struct FailureWatch: Hashable, Sendable {
  /// How many failed in a row, by class, as far as there are any.
  package private(set) var counts: [SessionWarning.FailureClass: UInt32] = [:]

  /// A watch that goes on from a state's counts.
  package init(_ state: SessionState = .unauthenticated) {
    guard case .authenticated(let session) = state else { return }
    let failures = session.failures
    if failures.answered > 0 { counts[.answered] = failures.answered }
    if failures.total > failures.answered {
      counts[.unanswered] = failures.total - failures.answered
    }
  }

  /// Takes the next event in; the warning that it is time for, if it is.
  package mutating func take(_ event: SessionEvent) -> SessionWarning? {
    switch event {
    case .refreshFailed(let refresh):
      let kind = refresh.failure.kind.failureClass
      let count = counts[kind, default: 0]
      guard count < .max else { return nil }
      counts[kind] = count + 1
      return Self.isDue(at: count + 1)
        ? .refreshFailing(count: count + 1, last: refresh.failure) : nil
    case .contextSwitched(let change):
      if change.token != nil { counts = [:] }
    case .login, .refreshSucceeded, .sessionExpired, .logout:
      counts = [:]
    }
    return nil
  }

  /// Whether a warning is due at so many: 3 or 10 times a power of ten.
  static func isDue(at count: UInt32) -> Bool {
    var rest = count
    while rest >= 100, rest % 10 == 0 { rest /= 10 }
    return rest == 3 || rest == 10 || rest == 30
  }
}
