import SessionChanges
@_spi(Internals) package import SessionCore
package import SessionKit
import SessionMessages

/// The events, notes, states and results in the words of scenario files.
///
/// The words are those of `ScenarioVocabulary`. A missing value is `none`.
package enum ScenarioWords {
  package typealias Words = [String: String]

  package static func of(_ event: SessionEvent, at time: Timestamp) -> Words {
    dictionary(ScenarioFields(event, at: time))
  }

  package static func of(_ note: SessionNote) -> Words { dictionary(ScenarioFields(note)) }

  private static func dictionary(_ fields: ScenarioFields) -> Words {
    Words(fields.words.map { ($0.name, $0.value) }) { first, _ in first }
  }

  package static func of(_ state: SessionState) -> Words {
    switch state {
    case .unauthenticated: [:]
    case .authenticated(let session):
      [
        "user": "\(session.user)", "method": "\(session.method)",
        "token": "\(session.token.generation.number)", "role": role(session.context),
        "school": school(session.context), "failures": "\(session.failures.total)",
        "answered": "\(session.failures.answered)",
        "last": session.failures.last.map { "\($0.kind)" } ?? "none",
      ]
    case .expired(let session):
      [
        "user": "\(session.user)", "role": role(session.context),
        "school": school(session.context), "reason": "\(session.reason)",
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
      "storage": problem.map(name) ?? "none",
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
    case .partial(.notRevocable): "notRevocable"
    case .partial(.itemsRemain): "itemsRemain"
    case .partial(.localDataRemains): "localDataRemains"
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
      ["problem": (error.underlyingError as? CredentialRules.Problem).map { name($0) } ?? "none"]
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

  private static func name(_ problem: CredentialRules.Problem) -> String {
    switch problem {
    case .emptyUserName: "emptyUserName"
    case .notAnEmail: "notAnEmail"
    case .emptyPassword: "emptyPassword"
    case .passwordTooShort: "passwordTooShort"
    case .emptyProviderToken: "emptyProviderToken"
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

  private static func school(_ context: ActiveContext?) -> String {
    context?.school.map { "\($0.id)" } ?? "none"
  }

  static func yes(_ holds: Bool) -> String { holds ? "yes" : "no" }

  /// Formats a duration: `3600s`, or `1500ms` if it is not whole seconds.
  static func duration(_ milliseconds: Int64) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }

  /// Returns the name of an error.
  package static func name(_ error: SessionError) -> String { error.failure.name }
}

/// The words of an event's or a note's fields, in the order of the fields.
///
/// A value that a scenario cannot know has no word: a sequence, an opening, a boot, a
/// system, a journal.
struct ScenarioFields: FieldVisitor {
  /// The time of the record, from which durations are counted; `nil` if times have no words.
  private let start: Timestamp?
  private(set) var words: [(name: String, value: String)] = []

  init(from start: Timestamp? = nil) { self.start = start }

  /// The words of an event that was recorded at this time.
  init(_ event: SessionEvent, at time: Timestamp) {
    self.init(from: time)
    event.visit(&self)
  }

  /// The words of a note.
  init(_ note: SessionNote) {
    self.init()
    note.visit(&self)
  }

  private mutating func add(_ name: some CustomStringConvertible, _ value: String?) {
    words.append((name.description, value ?? "none"))
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
