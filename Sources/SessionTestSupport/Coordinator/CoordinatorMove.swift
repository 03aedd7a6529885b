@_spi(Internals) package import SessionCore
@_spi(Internals) import SessionTestKit

/// One thing that happens to a coordinator, its callers, its clocks or its journal.
package enum CoordinatorMove: Hashable, Sendable {
  /// What a caller may ask for.
  package enum Question: Hashable, Sendable {
    /// A sign-in.
    case login(LoginMethod)
    /// A newer token, or a good one.
    case refresh(RefreshTrigger, RefreshNeed)
    /// Another context.
    case switchContext
    /// The end of the session.
    case logout
    /// A look at the stored items, which can be read now.
    case unlock
    /// What coming to the foreground asks for.
    case foreground
    /// The end of the session object.
    case close
  }

  /// What another process may do; it is seen at the next commit.
  package enum Foreign: Hashable, Sendable {
    /// Sends a refresh that ends within so many milliseconds.
    case sends(deadlineIn: Int64)
    /// Refreshes the token.
    case rotates(lifetime: Int64)
    /// Fails to refresh.
    case fails(RequestFailure.Kind)
    /// Gets a newer token, stores it, and dies before it can say so.
    case diesWithToken(lifetime: Int64)
    /// Switches the context.
    case switches
    /// Expires the session.
    case expires(ExpiryReason)
    /// Logs out.
    case logsOut
    /// Logs out, and dies before it can wipe anything or tell the server.
    case diesLoggingOut
    /// Signs somebody in.
    case logsIn(Identifier, lifetime: Int64)
    /// Appends a note.
    case notes(SessionNote)
    /// A record that this version does not know.
    case writes(SessionRecord.Unknown)
  }

  /// A new caller asks.
  case ask(Question)
  /// A new caller asks while the next commit is under way.
  case askDuringCommit(Question)
  /// A caller stops waiting.
  case cancel(Caller)
  /// The app has shown the last failure.
  case clearError
  /// The server answers.
  case answer(RequestNumber, ResponseMetadata)
  /// The server has created the account, and signs nobody in.
  case created(RequestNumber)
  /// The sign-in with an identity provider comes to nothing.
  case leave(RequestNumber, WebSignInProblem)
  /// Asking for the profile ends, by this failure or well.
  case profile(RequestFailure?)
  /// The session is used.
  case use
  /// The request fails.
  case fail(RequestNumber, RequestFailure, jitter: UInt16)
  /// What came for the request comes again.
  case again(RequestNumber)
  /// Telling the server of a logout ends.
  case revoked(Generation, RevocationOutcome)
  /// The clocks run to the timer's time, and it goes off.
  case fire(SessionTimer)
  /// The timer goes off before its time, as one does after a sleep.
  case early(SessionTimer)
  /// Both clocks run on.
  case pass(Int64)
  /// The civil time is set.
  case jump(Int64)
  /// So many commits fail; `afterStoring` the secrets, or before.
  case breakCommits(Int, afterStoring: Bool, forGood: Bool = false)
  /// The next wipe leaves something behind.
  case breakWipe
  /// The stored items can be read, or not.
  case lock(Bool)
  /// A stored item is lost or spoilt.
  case damage(SecretItem, StoredItemsReport.Item)
  /// The token item is that of an older generation again, as out of a backup.
  case rollBack(Generation)
  /// Another process does something.
  case foreign(Foreign)
  /// The process dies and starts again.
  case restart(isHolderGone: Bool)
}

extension CoordinatorMove: CustomStringConvertible {
  /// As a step of a failing run shows it.
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
  /// Whether only who is signed in can be served.
  var needsToken: Bool {
    switch self {
    case .refresh, .switchContext: true
    case .login, .logout, .close, .unlock, .foreground: false
    }
  }

  package var line: String {
    switch self {
    case .login(let method): "login by \(method)"
    case .refresh(let trigger, let need): "refresh \(trigger)\(need.words)"
    case .switchContext: "switchContext"
    case .logout: "logout"
    case .unlock: "unlock"
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
