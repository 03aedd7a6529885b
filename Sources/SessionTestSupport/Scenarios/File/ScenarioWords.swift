import SessionChanges
@_spi(Internals) import SessionCore
import SessionKit
import SessionMessages

/// The events, notes, states and results in the words of scenario files.
///
/// A missing value is `none`.
enum ScenarioWords {
  typealias Words = [String: String]

  static func of(_ event: SessionEvent, at time: Timestamp) -> Words {
    var fields = ScenarioFields(from: time)
    event.visit(&fields)
    return fields.words
  }

  static func of(_ note: SessionNote) -> Words {
    var fields = ScenarioFields()
    note.visit(&fields)
    return fields.words
  }

  static func of(_ state: SessionState) -> Words {
    switch state {
    case .unauthenticated: [:]
    case .authenticated(let session):
      [
        "user": "\(session.user)", "method": "\(session.method)",
        "token": "\(session.token.generation.number)", "role": role(session.context),
        "failures": "\(session.failures.total)", "answered": "\(session.failures.answered)",
        "last": session.failures.last.map { "\($0.kind)" } ?? "none",
      ]
    case .expired(let session):
      [
        "user": "\(session.user)", "role": role(session.context), "reason": "\(session.reason)",
      ]
    }
  }

  /// Returns the words for what a session shows; for the token, its text.
  static func of(_ session: Session) -> Words {
    let permissions = session.currentPermissions.joined(separator: ",")
    let problem = session.storageProblem
    return [
      "token": session.currentToken?.plaintext ?? "none",
      "expired": yes(session.isTokenExpired), "refreshable": yes(session.canRefreshToken),
      "activity": activity(session.activity), "waiters": "\(session.waiterCount)",
      "email": session.currentUser?.email ?? "none",
      "permissions": permissions.isEmpty ? "none" : permissions,
      "storage": problem?.failure.name ?? "none",
      "gate": session.gate.isOpen ? "open" : "closed",
      "role": session.currentUserRole.map { "\($0.id)" } ?? "none",
      "lastEnd": session.lastEnd.map { "\($0.reason)" } ?? "none",
    ]
  }

  static func outcome(_ outcome: LogoutOutcome) -> String {
    switch outcome {
    case .success: "success"
    case .alreadyLoggedOut: "alreadyLoggedOut"
    case .partial(.serverNotTold): "serverNotTold"
    case .partial(let part): "\(part)"
    }
  }

  static func registered(_ result: LoginResult) -> Words {
    switch result {
    case .accountCreated: ["outcome": "accountCreated"]
    case .loggedIn(let user): ["outcome": "signedIn", "user": user.map { "\($0.id)" } ?? "none"]
    }
  }

  /// Returns the words for an error: its details, and its messages to users.
  static func of(_ error: SessionError, said words: SessionWords) -> Words {
    details(error).merging([
      "english": words.text(of: error, in: .english),
      "spanish": words.text(of: error, in: .spanish),
      "portuguese": words.text(of: error, in: .portuguese),
    ]) { $1 }
  }

  private static func details(_ error: SessionError) -> Words {
    let code = ["code": error.serverCode ?? "none"]
    let status = ["status": error.row.status.map { "\($0)" } ?? "none"]
    return switch error.failure {
    case .pendingChanges: ["count": "\(error.pendingChanges ?? 0)"]
    case .invalidCredential:
      if case .passwordTooShort? = error.underlyingError as? CredentialRules.Problem {
        ["problem": "passwordTooShort"]
      } else {
        [:]
      }
    case .invalidRequest, .invalidCredentials, .unauthorized, .forbidden, .conflict,
      .databaseUnavailable, .userNeeded:
      code
    case .webSignIn:
      switch error.underlyingError as? WebSignInProblem {
      case .refused?: code.merging(["problem": "refused"]) { $1 }
      case let problem: code.merging(["problem": problem.map { "\($0)" } ?? "none"]) { $1 }
      }
    case .rateLimited, .tooManyAttempts:
      ["retryAfter": error.row.retryAfter.map { duration($0) } ?? "none"]
    case .expired, .loggedOut, .server, .appRefused, .codeRefused: status.merging(code) { $1 }
    case .unexpectedStatus, .refreshRefused, .intercepted, .gatewayFailed: status
    default: [:]
    }
  }

  private static func activity(_ activity: SessionActivity) -> String {
    switch activity {
    case .loading: "loading"
    case .replaced: "replaced"
    case .idle: "idle"
    case .authenticating: "authenticating"
    case .refreshing: "refreshing"
    case .switching: "switching"
    case .failed: "failed"
    }
  }

  private static func role(_ context: ActiveContext?) -> String {
    context.map { "\($0.role.id)" } ?? "none"
  }

  static func yes(_ holds: Bool) -> String { holds ? "yes" : "no" }

  /// Formats a duration: `3600s`, or `1500ms` if it is not whole seconds.
  static func duration(_ milliseconds: Int64) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }

  // MARK: Change logs

  /// Returns the kind and the words of a record; `nil` for a snapshot, which contains nothing new.
  static func of(_ record: ChangeRecord) -> (kind: String, words: Words)? {
    guard case .event(let event) = record.content else { return nil }
    switch event {
    case .sent(let sent): return ("sent", ["key": "\(sent.key)"])
    case .postponed(let postponed):
      let words = [
        "key": "\(postponed.key)", "counted": yes(postponed.isCounted),
        "retry": duration(postponed.retryAt.milliseconds(since: record.time)),
        "reason": postponed.reason,
      ]
      return ("postponed", words)
    case .givenUp(let end):
      return ("givenUp", ["key": "\(end.key)", "cause": "\(end.cause)", "reason": end.reason])
    case .discarded(let discarded):
      let key = discarded.key.map { "\($0)" } ?? "none"
      return ("discarded", ["key": key, "cause": "\(discarded.cause)"])
    case .scopeChecked(let check):
      return ("scopeChecked", ["scope": check.scope, "changed": "\(check.statusChangedAt)"])
    default: return (record.name, [:])
    }
  }

  /// Returns the words for the result of sending, at a time.
  static func of(_ drained: DrainResult, at moment: ClockReading) -> Words {
    let (ending, until): (String, Timestamp?) =
      switch drained.ending {
      case .empty: ("empty", nil)
      case .gateClosed: ("gateClosed", nil)
      case .waits(let until): ("waits", until)
      case .leasedElsewhere(let until): ("heldByOthers", until)
      case .cancelled: ("cancelled", nil)
      }
    return [
      "sent": "\(drained.acknowledged)", "givenUp": "\(drained.givenUp)", "ending": ending,
      "wait": until.map { duration($0.milliseconds(since: moment.time)) } ?? "none",
    ]
  }

  static func of(_ error: ChangeLogError) -> Words {
    if case .full(let count, _) = error { ["count": "\(count)"] } else { [:] }
  }

  /// Returns the name of an error of a change log; its text if no scenario names it.
  static func name(_ error: ChangeLogError) -> String {
    switch error {
    case .sessionExpired: "sessionExpired"
    case .notSignedIn: "notSignedIn"
    case .full: "full"
    case .unknownKey: "unknownKey"
    default: "\(error)"
    }
  }
}

/// The words of an event's or a note's fields.
///
/// A value that a scenario cannot know has no word: a sequence, an opening, a boot, a
/// system, a journal.
private struct ScenarioFields: FieldVisitor {
  /// The time of the record, from which durations are counted; `nil` if times have no words.
  private let start: Timestamp?
  private(set) var words: ScenarioWords.Words = [:]

  init(from start: Timestamp? = nil) { self.start = start }

  private mutating func add(_ name: some CustomStringConvertible, _ value: String?) {
    // The first of two fields with this name has the word.
    if words[name.description] == nil { words[name.description] = value ?? "none" }
  }

  mutating func visit(_ name: FieldName, code: some OpenEnum) { add(name.member, code.word) }
  mutating func visit(_ name: FieldName, reason: some OpenEnum) { add(name.member, reason.word) }
  mutating func visit(_ name: FieldName, meaning: ErrorMeaning?) { add(name.member, meaning?.word) }

  mutating func visit(_ name: FieldName, number: some FixedWidthInteger) {
    // A status of 0 is none.
    add(name.member, name.member.description == "status" && number == 0 ? nil : "\(number)")
  }

  mutating func visit(_ name: FieldName, sequence: UInt64) {}

  /// Adds `rotated` for `isRotated`.
  mutating func visit(_ name: FieldName, flag: Bool) {
    add(name.member.description.dropFirst("is".count).lowercased(), ScenarioWords.yes(flag))
  }

  /// Adds `retry` for `retryAt`, as a duration.
  mutating func visit(_ name: FieldName, time: Timestamp?) {
    guard let start else { return }
    add(
      String(name.member.description.dropLast("At".count)),
      time.map { ScenarioWords.duration($0.milliseconds(since: start)) })
  }

  mutating func visit(_ name: FieldName, generation: Generation) {
    add("token", "\(generation.number)")
  }

  mutating func visit(_ name: FieldName, _ kind: IdentifierKind, identifier: Identifier?) {
    switch kind {
    case .user: add(name.member, identifier?.description)
    case .boot, .journal, .key: break
    }
  }

  mutating func visit(_ name: FieldName, version: AppVersion?) {
    add(name.member, version?.description)
  }

  mutating func visit(_ name: FieldName, token: TokenMetadata?) {
    add("token", token.map { "\($0.generation.number)" })
    add("refreshable", token.map { ScenarioWords.yes($0.isRefreshable) })
    add("life", token.map { ScenarioWords.duration($0.lifetimeMilliseconds) })
  }

  mutating func visit(_ name: FieldName, context: ActiveContext?) {
    add("role", context.map { "\($0.role.id)" })
    add("school", context?.school.map { "\($0.id)" })
  }

  mutating func visit(_ name: FieldName, failure: RequestFailure) {
    add("kind", failure.kind.word)
    add("status", failure.status == 0 ? nil : "\(failure.status)")
    add("code", failure.serverCode)
  }

  mutating func visit(_ name: FieldName, identity: ProcessIdentity?) {}
  mutating func visit(_ name: FieldName, platform: Platform?) {}
  mutating func visit(_ name: FieldName, policy: RecordedPolicy?) {}
  mutating func visit(_ name: FieldName, demand: AuthenticationDemand?) {
    add(name.member, demand?.description)
  }
}
