/// What the shell must do next, in the order given; decided here, never re-run by a replay.
///
/// A commit or a look at the journal is always the last effect of its list: the shell performs it at
/// once and tells how it ended before it tells anything else. No `await` lies between deciding and
/// appending.
package enum SessionEffect: Hashable, Sendable {
  /// Journal these records as one batch.
  case commit(SessionCommit)
  /// Send a request and tell of its answer or failure.
  case send(RequestNumber, Request)
  /// Forget what the request's answer held; with `revoking`, tell the server first.
  ///
  /// - Requirement: LOG-10
  case discard(RequestNumber, revoking: Bool)
  /// Hand these events to the subscribers.
  case publish([RecordedEvent])
  /// Tell subscribers that events up to this sequence are in a snapshot and not to be had any more.
  case skip(through: UInt64)
  /// Let a caller go on.
  case resume(Caller, Reply)
  /// Tell of the timer at this uptime, in milliseconds; replaces the one set before.
  case schedule(SessionTimer, uptime: Int64)
  /// Forget the timer.
  case cancel(SessionTimer)
  /// Remove stored items and tell how it went.
  case wipe(Wipe)
  /// Tell the server that this token's session is over, and tell how it went.
  case revoke(Generation)
  /// Remove what the revocation of this token needed.
  case forgetRevocation(Generation)
  /// Another process stored a newer token: read it, and tell whether it could be read.
  case reloadToken(Generation)
  /// Look at the stored items again.
  case readSecrets
  /// Look at what others have appended, and tell.
  case readJournal
  /// Ask how the user stands, with the token of this generation, and tell.
  ///
  /// - Requirement: LOG-6
  case askProfile(Identifier, Generation)
  /// Keep where other processes and later ones find it that the session was used at this uptime.
  ///
  /// - Requirement: POL-5
  case markActive(Int64)
  /// See when any process used the session last, and tell.
  case readUse
  /// Let the host clear its local data, for this reason, and tell.
  ///
  /// - Requirement: SYN-5
  case clearLocalData(LogoutReason)

  /// What is requested.
  package enum Request: Hashable, Sendable {
    /// A token for the caller's credentials.
    case login(Caller)
    /// A token for the refresh token of this generation.
    case refresh(Generation)
    /// A token in the context that the caller wants.
    case switchContext(Caller, Generation)
  }

  /// What is removed, and what is kept apart before that.
  package struct Wipe: Hashable, Sendable {
    /// How much is removed.
    package enum Extent: Hashable, Sendable {
      /// Nothing: others have signed in since.
      case nothing
      /// The token item: the session expired, its user is still known.
      case token
      /// Every item of the session; what was set aside for diagnosis stays.
      case session
      /// Everything, also what was set aside.
      case everything
    }

    /// How much is removed.
    package let extent: Extent
    /// The token whose revocation keeps what it needs, if there is one.
    package let keptRevocation: Generation?

    /// A wipe.
    package init(_ extent: Extent, keepingRevocation generation: Generation? = nil) {
      (self.extent, keptRevocation) = (extent, generation)
    }

    /// The token item, and nothing is kept.
    package static let token = Wipe(.token)
    /// Every item of the session, and nothing is kept.
    package static let session = Wipe(.session)

    /// The token item; what revoking this token needs is kept apart first.
    package static func token(keepingRevocation generation: Generation?) -> Wipe {
      Wipe(.token, keepingRevocation: generation)
    }

    /// Every item of the session; what revoking this token needs is kept apart first.
    package static func session(keepingRevocation generation: Generation?) -> Wipe {
      Wipe(.session, keepingRevocation: generation)
    }

    /// Everything; what revoking this token needs is kept apart first.
    package static func everything(keepingRevocation generation: Generation?) -> Wipe {
      Wipe(.everything, keepingRevocation: generation)
    }

    /// Nothing; what revoking this token needs is kept apart.
    package static func nothing(keepingRevocation generation: Generation) -> Wipe {
      Wipe(.nothing, keepingRevocation: generation)
    }
  }

  /// What a caller is told.
  package enum Reply: Hashable, Sendable {
    /// Signed in.
    case signedIn
    /// The account was created; nobody was signed in by that.
    case accountCreated
    /// What the session shows is up to date.
    case current
    /// There has been a token before: nothing is adopted.
    case notAdopted
    /// There is a good token.
    case refreshed
    /// The context is the one asked for.
    case switched
    /// Logged out; the server was told, or was not, or there was nothing to tell (`nil`).
    case loggedOut(RevocationOutcome?, status: UInt16, isWiped: Bool)
    /// There was nothing to log out of.
    case alreadyLoggedOut
    /// Closed.
    case closed
    /// It could not be done.
    case failed(CommandFailure)
  }
}

/// Records to be journaled as one batch, with the secrets that must be durable before them.
package struct SessionCommit: Hashable, Sendable {
  /// What the records hold, in order.
  package let contents: [SessionRecord.Content]
  /// When, on this device's clock.
  package let time: Timestamp
  /// The answer whose secrets are stored first, under the generation that the batch announces.
  package let storing: RequestNumber?
  /// When that answer's token dies, on the clock that never jumps, where that is known.
  ///
  /// - Requirement: REF-8
  package let deadline: Int64?
  /// The newest token that may be stored; `nil` where that makes no difference.
  ///
  /// Where a newer one is, nothing is written: whoever got it was stopped before it could say so.
  package let newest: Generation?
  /// The token whose refresh token is to be readable before the batch is written; `nil` for none.
  package let refreshing: Generation?
  /// When the session ends at the latest, by what the responses said; it is stored with the token.
  ///
  /// - Requirement: POL-10
  package let sessionEnd: Timestamp?

  /// A batch.
  package init(
    contents: [SessionRecord.Content], time: Timestamp, storing: RequestNumber? = nil,
    deadline: Int64? = nil, newest: Generation? = nil, refreshing: Generation? = nil,
    sessionEnd: Timestamp? = nil
  ) {
    self.sessionEnd = sessionEnd
    self.refreshing = refreshing
    self.deadline = deadline
    self.contents = contents
    self.time = time
    self.storing = storing
    self.newest = newest
  }

  /// Whether the batch has nothing but what the secret store did not do.
  package var isOfStorageOnly: Bool {
    contents.allSatisfy { content in
      switch content {
      case .note(.storageFailed), .note(.storageRecovered): true
      default: false
      }
    }
  }

  /// The event that announces a token, where the batch has one.
  package var announcement: SessionEvent? {
    for case .event(let event) in contents where event.announcedToken != nil { return event }
    return nil
  }

  /// The context that is stored with the token, where the batch names one.
  package var context: ActiveContext? {
    for case .event(let event) in contents.reversed() {
      switch event {
      case .login(let login): return login.context
      case .contextSwitched(let change): return change.context
      case .refreshSucceeded, .refreshFailed, .sessionExpired, .logout: continue
      }
    }
    return nil
  }
}

/// Why a caller did not get what it asked for.
package enum CommandFailure: Hashable, Sendable {
  /// The state does not allow it.
  case rejected(SessionRejection)
  /// The request failed; the session is what it was.
  case request(RequestFailure)
  /// The credential was accepted, and who the user is could not be learnt.
  ///
  /// - Requirement: LOG-6
  case unidentified(RequestFailure)
  /// The sign-in with an identity provider came to nothing.
  ///
  /// - Requirement: WEB-4
  case webSignIn(WebSignInProblem)
  /// The session ended while the caller waited; by this failure, where it was one.
  case ended(SessionState.Kind, by: RequestFailure?)
  /// A sign-in is under way already.
  case busy
  /// It was tried too often in the last minute; in so many milliseconds it may be tried again.
  ///
  /// - Requirement: LOG-2
  case tooManyAttempts(retryAfter: Int64)
  /// The journal or the secret store could not be written; nothing changed.
  case storage
  /// The server has answered, and the answer could not be stored yet: it will count once it is.
  case unsettled
  /// The session object was closed, and the server's last answer could not be stored.
  ///
  /// - Requirement: REF-11
  case dropped
  /// The stored secrets cannot be read yet.
  case locked
  /// The refresh token cannot be read until the user has shown who they are.
  ///
  /// - Requirement: STO-2
  case needsPresence
  /// A newer version wrote the stored secrets: update the app, or sign in again.
  ///
  /// - Requirement: RES-8
  case newerItems
  /// The journal holds a record that this version cannot follow.
  case unusableJournal(SessionFold.Failure)
  /// The session object was closed.
  case closed
  /// The caller stopped waiting.
  case cancelled
}

/// What the process is doing for the session now; never journaled.
///
/// - Requirement: STA-3
public enum SessionActivity: Hashable, Sendable {
  /// It is not known yet whether anybody is signed in.
  case loading
  /// Nothing.
  case idle
  /// A sign-in is under way.
  case authenticating
  /// The token is being refreshed.
  case refreshing
  /// The context is being switched.
  case switching
  /// The last sign-in failed, and the app has not cleared that; `loginError` of the session's status says
  /// why.
  case failed
  /// Nothing any more: another journal is in the place of this object's journal.
  ///
  /// Who is signed in is decided there. Close this object and open the session again.
  ///
  /// - Requirement: RES-6
  case replaced
}
