@_spi(Internals) package import SessionCore
@_spi(Internals) import SessionTestKit

/// One thing that happens to a coordinator, its callers, its clocks or its journal.
package enum CoordinatorMove: Hashable, Sendable {
  /// A caller's question.
  package enum Question: Hashable, Sendable {
    /// A login.
    case login(LoginMethod)
    /// A login of the user who is signed in.
    case reauthenticate(LoginMethod)
    /// A newer token, or a valid one.
    case refresh(RefreshTrigger, RefreshNeed)
    /// A switch of the context.
    case switchContext
    /// A logout.
    case logout
    /// Reading the stored items again after the device was unlocked.
    case unlock
    /// A lock by the app, the begin of an unlock, and the end of the check with this number.
    case lock, beginUnlock
    case checkPassed(UInt64)
    /// The work for the app's return to the foreground.
    case foreground
    /// Closing the session object.
    case close
  }

  /// An act of another process; the coordinator sees it at its next commit.
  package enum Foreign: Hashable, Sendable {
    /// Sends a refresh whose deadline is this number of milliseconds ahead.
    case sends(deadlineIn: Int64)
    /// Refreshes the token.
    case rotates(lifetime: Int64)
    /// A refresh of it fails.
    case fails(RequestFailure.Kind)
    /// Receives and stores a newer token, and dies before it can append the event.
    case diesWithToken(lifetime: Int64)
    /// Switches the context.
    case switches
    /// Expires the session.
    case expires(ExpiryReason)
    /// Logs out.
    case logsOut
    /// Logs out, and dies before it can remove secrets or revoke tokens.
    case diesLoggingOut
    /// Logs a user in.
    case logsIn(Identifier, lifetime: Int64)
    /// Appends a note.
    case notes(SessionNote)
    /// Appends a record that this version does not know.
    case writes(SessionRecord.Unknown)
  }

  /// A new caller asks.
  case ask(Question)
  /// A new caller asks during the next commit.
  case askDuringCommit(Question)
  /// A caller stops waiting.
  case cancel(Caller)
  /// The app has shown the last failure.
  case clearError
  /// The server answers.
  case answer(RequestNumber, ResponseMetadata)
  /// The server has created the account, and logs no user in.
  case created(RequestNumber)
  /// The sign-in with an identity provider fails.
  case leave(RequestNumber, WebSignInProblem)
  /// The request for the profile ends, with this failure or with success.
  case profile(RequestFailure?)
  /// The user is active in the session.
  case use
  /// The request fails.
  case fail(RequestNumber, RequestFailure, jitter: UInt16)
  /// The reply to the request arrives again.
  case again(RequestNumber)
  /// The revocation of a token ends.
  case revoked(Generation, RevocationOutcome)
  /// The clocks advance to the timer's deadline, and the timer fires.
  case fire(SessionTimer)
  /// The timer fires early, as can happen after the system slept.
  case early(SessionTimer)
  /// The check with this number fails.
  case checkFailed(UInt64)
  /// The server refuses a call, and asks for the user.
  case callNeedsUser
  /// Both clocks advance by this number of milliseconds.
  case pass(Int64)
  /// The civil time is changed by this number of milliseconds.
  case jump(Int64)
  /// This number of commits fails, after or before the secrets are stored.
  case breakCommits(Int, afterStoring: Bool, forGood: Bool = false)
  /// The next removal of secrets fails.
  case breakWipe
  /// The stored items become locked or unlocked.
  case lock(Bool)
  /// A stored item is lost or damaged.
  case damage(SecretItem, StoredItemsReport.Item)
  /// The token item is replaced by that of an older generation, as from a backup.
  case rollBack(Generation)
  /// Another process acts.
  case foreign(Foreign)
  /// The process dies and starts again.
  case restart(isHolderGone: Bool)
}

extension CoordinatorMove: CustomStringConvertible {
  /// The move as a step in the report of a failing run.
  package var description: String {
    switch self {
    case .ask(let question): "ask \(question.line)"
    case .askDuringCommit(let question): "ask \(question.line) during the next commit"
    case .cancel(let caller): "caller \(caller.number) stops waiting"
    case .clearError: "clear the error"
    case .answer(let number, let facts): "request \(number.number) is answered, \(facts.line)"
    case .created(let number): "request \(number.number) has created an account"
    case .leave(let number, let problem):
      "the page of request \(number.number) brings nothing: \(problem)"
    case .profile(let failure):
      "the profile is \(failure.map { "not read: \($0)" } ?? "read")"
    case .use: "the session is used"
    case .checkFailed(let number): "check \(number) fails"
    case .callNeedsUser: "a call needs the user"
    case .fail(let number, let failure, _): "request \(number.number) fails: \(failure)"
    case .again(let number): "what came for request \(number.number) comes again"
    case .revoked(let generation, let outcome): "revoking \(generation) ends: \(outcome)"
    case .fire(let timer): "timer \(timer) goes off"
    case .early(let timer): "timer \(timer) goes off early"
    case .pass(let milliseconds): "\(milliseconds) ms pass"
    case .jump(let milliseconds): "the civil time jumps by \(milliseconds) ms"
    case .breakCommits(let count, let afterStoring, let forGood):
      "\(count) commits will fail \(afterStoring ? "after" : "before") storing"
        + (forGood ? ", for good" : "")
    case .breakWipe: "the next wipe will fail"
    case .lock(let isLocked): "the stored items are \(isLocked ? "locked" : "unlocked")"
    case .damage(let item, let condition): "the \(item) item becomes \(condition)"
    case .rollBack(let generation): "the token item is that of \(generation) again"
    case .foreign(let act): "another process \(act.line)"
    case .restart: "the process dies and starts again"
    }
  }
}

extension CoordinatorMove.Question {
  /// Whether the question can be answered only while a user is logged in.
  var needsToken: Bool {
    switch self {
    case .refresh, .switchContext, .reauthenticate: true
    case .login, .logout, .close, .unlock, .foreground, .lock, .beginUnlock, .checkPassed: false
    }
  }

  package var line: String {
    switch self {
    case .login(let method): "login by \(method)"
    case .reauthenticate(let method): "login of the same user by \(method)"
    case .refresh(let trigger, let need): "refresh \(trigger)\(need.words)"
    case .switchContext: "switchContext"
    case .logout: "logout"
    case .unlock: "unlock"
    case .lock: "lock"
    case .beginUnlock: "beginUnlock"
    case .checkPassed(let number): "checkPassed \(number)"
    case .foreground: "foreground"
    case .close: "close"
    }
  }
}

extension CoordinatorMove.Foreign {
  package var line: String {
    switch self {
    case .sends(let deadline): "sends a refresh, to end within \(deadline) ms"
    case .rotates: "refreshes the token"
    case .fails(let kind): "fails to refresh: \(kind)"
    case .diesWithToken: "stores a newer token and dies"
    case .switches: "switches the context"
    case .expires(let reason): "expires the session: \(reason)"
    case .logsOut: "logs out"
    case .diesLoggingOut: "logs out and dies"
    case .logsIn(let user, _): "signs \(user.short) in"
    case .notes(let note): "notes \(note.line)"
    case .writes(let unknown): "writes unknown(\(unknown.kind))"
    }
  }
}

extension RefreshNeed {
  fileprivate var words: String {
    switch self {
    case .always: ""
    case .ifExpired: " if needed"
    case .unlessGood(let minimum): " unless good for \(minimum) ms"
    case .unlessNewer(let used): " since \(used) was refused"
    }
  }
}
