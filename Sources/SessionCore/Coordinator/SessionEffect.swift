/// What the shell must do next, in order; decided by the coordinator, never repeated by a replay.
///
/// A commit or a read of the journal is always the last effect of its list. The shell performs it
/// at once, and reports its end before any other input. No `await` is between deciding and
/// appending.
package enum SessionEffect: Hashable, Sendable {
  /// Journal these records as one batch.
  case commit(SessionCommit)
  /// Send a request, and report its response or failure.
  case send(RequestNumber, Request)
  /// Discard the secrets of the request's response; with `revoking`, revoke its token first.
  ///
  /// - Requirement: LOG-10
  case discard(RequestNumber, revoking: Bool)
  /// Pass these events to the subscribers.
  case publish([RecordedEvent])
  /// Notify subscribers that a snapshot has replaced the events up to this sequence.
  case skip(through: UInt64)
  /// Resume a caller.
  case resume(Caller, Reply)
  /// Set a timer to this uptime, in milliseconds; it replaces the one set before.
  case schedule(SessionTimer, uptime: Int64)
  /// Cancel a timer.
  case cancel(SessionTimer)
  /// Remove stored items, and report the result.
  case wipe(Wipe)
  /// Revoke the tokens of this generation at the server, and report the result.
  case revoke(Generation)
  /// Remove the secrets for this token's revocation.
  case forgetRevocation(Generation)
  /// Read the newer token that another process stored, and report the result.
  case reloadToken(Generation)
  /// Read the stored items again.
  case readSecrets
  /// Read what others have appended, and report it.
  case readJournal
  /// Request the user's profile with the token of this generation, and report the result.
  ///
  /// - Requirement: LOG-6
  case askProfile(Identifier, Generation)
  /// Store that the session was used at this uptime, for other processes and later ones.
  ///
  /// - Requirement: POL-5
  case markActive(Int64)
  /// Read when any process last used the session, and report it.
  case readUse
  /// Notify the host to clear its local data, and report when that is done.
  ///
  /// - Requirement: SYN-5
  case clearLocalData(LogoutReason)

  /// What is requested.
  package enum Request: Hashable, Sendable {
    /// A token for the caller's credentials.
    case login(Caller)
    /// A token for the refresh token of this generation.
    case refresh(Generation)
    /// A token for the context that the caller wants.
    case switchContext(Caller, Generation)
  }

  /// The stored items to remove, and the secrets to keep for a revocation.
  package struct Wipe: Hashable, Sendable {
    /// How much is removed.
    package enum Extent: Hashable, Sendable {
      /// Nothing: a user has logged in since.
      case nothing
      /// The token item: the session has expired, but its user is still known.
      case token
      /// Every item of the session; items that were moved aside for diagnosis stay.
      case session
      /// Everything, including items that were moved aside.
      case everything
    }

    /// How much is removed.
    package let extent: Extent
    /// The token for whose revocation the secrets are kept; `nil` for none.
    package let keptRevocation: Generation?
    /// Whether the items of another journal stay, because that journal may come back.
    package private(set) var sparesOthers = false

    /// Returns the wipe that removes the items of another journal, or leaves them.
    package func sparing(others isSparing: Bool) -> Wipe {
      var wipe = self
      wipe.sparesOthers = isSparing
      return wipe
    }

    /// Creates a wipe.
    package init(_ extent: Extent, keepingRevocation generation: Generation? = nil) {
      (self.extent, keptRevocation) = (extent, generation)
    }

    /// The token item; nothing is kept.
    package static let token = Wipe(.token)
    /// Every item of the session; nothing is kept.
    package static let session = Wipe(.session)

    /// The token item; the secrets for this token's revocation are kept first.
    package static func token(keepingRevocation generation: Generation?) -> Wipe {
      Wipe(.token, keepingRevocation: generation)
    }

    /// Every item of the session; the secrets for this token's revocation are kept first.
    package static func session(keepingRevocation generation: Generation?) -> Wipe {
      Wipe(.session, keepingRevocation: generation)
    }

    /// Everything; the secrets for this token's revocation are kept first.
    package static func everything(keepingRevocation generation: Generation?) -> Wipe {
      Wipe(.everything, keepingRevocation: generation)
    }

    /// Nothing; the secrets for this token's revocation are kept.
    package static func nothing(keepingRevocation generation: Generation) -> Wipe {
      Wipe(.nothing, keepingRevocation: generation)
    }
  }

  /// The reply to a caller.
  package enum Reply: Hashable, Sendable {
    /// The user is logged in.
    case signedIn
    /// The account was created, but no user is logged in.
    case accountCreated
    /// The session's view is up to date.
    case current
    /// The user must be checked before the session is unlocked; the caller reports the end of this check.
    ///
    /// - Requirement: ACC-2
    case unlocking(UInt64)
    /// There has been a token before: nothing is adopted.
    case notAdopted
    /// There is a valid token.
    case refreshed
    /// The context was switched to the requested one.
    case switched
    /// The user is logged out; the outcome of the revocation is `nil` if there was nothing to
    /// revoke.
    case loggedOut(RevocationOutcome?, status: UInt16, isWiped: Bool)
    /// No user was logged in.
    case alreadyLoggedOut
    /// The session object is closed.
    case closed
    /// The command failed.
    case failed(CommandFailure)
  }
}

/// A batch of records to journal, with the secrets that must be durable first.
package struct SessionCommit: Hashable, Sendable {
  /// The contents of the records, in order.
  package let contents: [SessionRecord.Content]
  /// The time of the records, on this device's clock.
  package let time: Timestamp
  /// The response whose secrets are stored first, under the generation that the batch announces.
  package let storing: RequestNumber?
  /// When that response's token expires, on the clock that never jumps; `nil` if unknown.
  ///
  /// - Requirement: REF-8
  package let deadline: Int64?
  /// The newest token that may be stored; `nil` if that does not matter.
  ///
  /// If a newer one is stored, nothing is written: a process stored it and was stopped before it
  /// could journal that.
  package let newest: Generation?
  /// The token whose refresh token must be readable before the batch is written; `nil` for none.
  package let refreshing: Generation?
  /// The latest end of the session that a response stated; it is stored with the token.
  ///
  /// - Requirement: POL-10
  package let sessionEnd: Timestamp?

  /// Creates a batch.
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

  /// Whether the batch holds nothing but notes about the secret store.
  package var isOfStorageOnly: Bool {
    contents.allSatisfy { content in
      switch content {
      case .note(.storageFailed), .note(.storageRecovered): true
      default: false
      }
    }
  }

  /// The event of the batch that announces a token; `nil` if there is none.
  package var announcement: SessionEvent? {
    for case .event(let event) in contents where event.announcedToken != nil { return event }
    return nil
  }

  /// The context to store with the token; `nil` if the batch names none.
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

/// Why a caller's command failed.
package enum CommandFailure: Hashable, Sendable {
  /// The state does not allow the command.
  case rejected(SessionRejection)
  /// The request failed; the session is unchanged.
  case request(RequestFailure)
  /// The server renews the session only with the user.
  ///
  /// - Requirement: STA-9
  indirect case userNeeded(UserNeed)
  /// The credential was accepted, but the user could not be identified.
  ///
  /// - Requirement: LOG-6
  case unidentified(RequestFailure)
  /// The sign-in with an identity provider failed.
  ///
  /// - Requirement: WEB-4
  case webSignIn(WebSignInProblem)
  /// The session ended while the caller waited; the failure caused that, if there was one.
  case ended(SessionState.Kind, by: RequestFailure?)
  /// A login is already under way.
  case busy
  /// There were too many attempts in the last minute; `retryAfter` is in milliseconds.
  ///
  /// - Requirement: LOG-2
  case tooManyAttempts(retryAfter: Int64)
  /// The journal or the secret store could not be written; nothing changed.
  case storage
  /// The response could not be stored yet; it takes effect once it is.
  case unsettled
  /// The session object was closed, and the last response could not be stored.
  ///
  /// - Requirement: REF-11
  case dropped
  /// The stored secrets cannot be read yet.
  case locked
  /// The user must unlock the app first.
  ///
  /// - Requirement: ACC-2
  case appLocked
  /// The refresh token cannot be read until the user has authenticated to the device.
  ///
  /// - Requirement: STO-2
  case needsPresence
  /// A newer version wrote the stored secrets: update the app, or log in again.
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
