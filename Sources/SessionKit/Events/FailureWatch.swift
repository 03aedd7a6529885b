@_spi(Internals) public import SessionCore

/// A condition that is no error yet but lasts too long to be ignored.
public enum SessionWarning: Hashable, Sendable {
  /// `count` consecutive refreshes failed in the same way.
  ///
  /// `last` is the last failure.
  ///
  /// There are two ways: a server responded (``/SessionCore/RequestFailure/Kind/isAnswered``), or none did.
  case refreshFailing(count: UInt32, last: RequestFailure)
  /// Records or stored items cannot be written.
  ///
  /// The session continues with its token, and writes them as soon as possible.
  ///
  /// - Requirement: RES-6
  case storageFailing(SessionError)
  /// The journal should have been compacted but could not be, so it becomes longer than it should.
  case compactionFailing(SessionError)
  /// A journal that could not be used was moved aside, and the session continues in a new one.
  ///
  /// ``Session/journalSetAside`` is its file.
  ///
  /// - Requirement: RES-6
  case journalSetAside(ContinuationCause)
  /// The journal is on a file system, such as FUSE, NFS, SMB or 9P, whose locks may not reach every
  /// process that can write to it.
  ///
  /// Only one process at a time may use the session there. Each ``Session/reports`` begins with it.
  /// Only Linux and Android can tell.
  ///
  /// - Requirement: JRN-2
  case journalShared
  /// A call was refused this token right after the refresh that issued it.
  ///
  /// The caller received the 401.
  ///
  /// It is reported once for each token.
  ///
  /// - Requirement: REF-13
  case newTokenRefused(Generation)
  /// A call was refused this token, but calls have already caused ``CallRules/maximumRefreshes``
  /// refreshes.
  ///
  /// The caller received the 401.
  ///
  /// It is reported once for each token.
  ///
  /// - Requirement: REF-13
  case refreshLimitReached(Generation)

  /// A sign-in's response had no refresh token at this path, although the backend has an endpoint
  /// to refresh.
  ///
  /// The session ends with its access token.
  ///
  /// - Requirement: LOG-11
  case refreshTokenMissing(String)
  /// The server keeps the refresh token of this login for less than twelve hours.
  ///
  /// A user who does not use the app in a night has to log in again.
  ///
  /// - Requirement: REF-16
  case refreshTokenShort(Duration)
  /// The backend has a ``ProofOfPossession``, and the server answered with a bearer token.
  ///
  /// The token is used as one, so a thief can use it. It is reported at the login, and when a
  /// bearer token takes the place of a bound one.
  ///
  /// - Requirement: INT-9
  case tokenNotBound
  /// The identity token in the response to a refresh or a switch did not pass a check.
  ///
  /// The response is used, because the server has replaced the refresh token already. If its `sub` is another
  /// one, the session ends.
  ///
  /// - Requirement: LOG-18
  case identityTokenRefused(IdentityTokenError)
  /// Every call so far was refused, and calls carry the token elsewhere than the backend's own
  /// requests.
  ///
  /// ``CallRules/token`` may be wrong. It is reported once, at the first call.
  ///
  /// - Requirement: INT-5
  case tokenPlaceDiffers(calls: CallTokenPlace, backend: CallTokenPlace)
  /// The first call with this token was answered with 400, 413 or 431, and the token's header field
  /// is longer than 4 KiB.
  ///
  /// Many servers accept 8 KiB of a field. The caller received the response. The length is that of
  /// the whole field, in bytes.
  ///
  /// - Requirement: INT-5
  case longTokenRefused(bytes: Int, status: Int)

  /// The two ways in which a refresh can fail, as the session's state counts them
  /// (`SessionState.RefreshFailures`).
  package enum FailureClass: String, CaseIterable, Sendable {
    /// A server responded.
    ///
    /// These failures count towards the policy's attempts.
    case answered = "answered"
    /// No server responded: no network, no reply, a page of a portal, or secrets that cannot be
    /// read.
    case unanswered = "unanswered"
  }
}

extension SessionWarning: CustomStringConvertible {
  /// One line, such as `10 refreshes in a row failed (answered), the last with: server 503`.
  public var description: String {
    switch self {
    case .refreshFailing(let count, let last):
      "\(count) refreshes in a row failed (\(last.kind.failureClass.rawValue)), the last with: "
        + "\(last)"
    case .storageFailing(let error):
      "the session's records or items cannot be written: \(StorageIssue(error).rawValue)"
    case .compactionFailing(let error):
      "the journal cannot be compacted: \(StorageIssue(error).rawValue)"
    case .journalSetAside(let cause):
      "the journal could not be used (\(cause)) and was moved aside; a new journal continues from "
        + "it"
    case .journalShared:
      "the journal is on a file system that others may reach in another way (FUSE, NFS, SMB, 9P …), "
        + "and its locks may not hold for them. Let one process at a time use the session, or use "
        + "a local disk"
    case .refreshTokenMissing(let path):
      "the response to the login has no refresh token: \(path) is missing, but the backend has a "
        + "refresh endpoint. The session ends with its access token. Correct the path (the "
        + "backend's response.refreshToken), or remove the endpoint"
    case .refreshTokenShort(let life):
      "the server keeps the refresh token for \(life), so a user who does not use the app in a night "
        + "has to log in again. Let refresh tokens live longer at the server"
    case .tokenNotBound:
      "the server answered with a bearer token, although the request proved possession of a key. The "
        + "token is used, and is not protected. Let the server bind the client's tokens (DPoP)"
    case .identityTokenRefused(let problem):
      "\(problem). The response to the refresh was used. Check the provider"
    case .tokenPlaceDiffers(let calls, let backend):
      "the server refused the token in every call so far. Calls carry it as \(calls.words), but the "
        + "backend's own requests carry it as \(backend.words). If the server reads it there, set "
        + "CallRules.token"
    case .longTokenRefused(let bytes, let status):
      "a call was answered with \(status), and the header field with its token has \(bytes) bytes. "
        + "Many servers accept 8 KiB. If each call with the token is refused, put fewer claims into "
        + "the token, or raise the limit of the server that answers"
    case .newTokenRefused(let generation):
      "the server refused a call with \(generation) right after the refresh that issued it. The "
        + "caller received the 401. No call refreshes this token within the window. If every call "
        + "is refused, calls may carry the token where the server does not read it (CallRules.token)"
    case .refreshLimitReached(let generation):
      "the server refused a call with \(generation), and calls have caused as many refreshes as "
        + "the window allows. The caller received the 401"
    }
  }
}

extension SessionWarning {
  /// Creates the warning that a refused call caused no refresh.
  init(_ denial: RefreshDenial, _ generation: Generation) {
    self =
      switch denial {
      case .tokenIsNew: .newTokenRefused(generation)
      case .tooMany: .refreshLimitReached(generation)
      }
  }
}

extension RequestFailure.Kind {
  /// The class of the failure in reports.
  package var failureClass: SessionWarning.FailureClass { isAnswered ? .answered : .unanswered }
}

/// Counts consecutive failures like the fold, and decides when to warn: at 3, 10, 30, 100, 300 … of
/// a class.
///
/// A new token sets the counts to zero. So does the beginning or end of a session.
package struct FailureWatch: Hashable, Sendable {
  /// The number of consecutive failures by class, without zeros.
  package private(set) var counts: [SessionWarning.FailureClass: UInt32] = [:]

  /// Creates a watch that continues from a state's counts.
  package init(_ state: SessionState = .unauthenticated) {
    guard case .authenticated(let session) = state else { return }
    let failures = session.failures
    if failures.answered > 0 { counts[.answered] = failures.answered }
    if failures.total > failures.answered {
      counts[.unanswered] = failures.total - failures.answered
    }
  }

  /// Takes in the next event.
  ///
  /// Returns a warning if it is due.
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

  /// Returns whether a warning is due at this count: 3 or 10 times a power of ten.
  static func isDue(at count: UInt32) -> Bool {
    var rest = count
    while rest >= 100, rest % 10 == 0 { rest /= 10 }
    return rest == 3 || rest == 10 || rest == 30
  }
}
