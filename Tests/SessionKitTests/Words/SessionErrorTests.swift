import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionMessages
import SessionTestKit
import Testing

@Suite("Errors of a session")
struct SessionErrorTests {
  /// The properties of an error that an app can read, besides code, advice and text.
  static func apart(_ error: SessionError) -> String {
    var words: [String] = []
    if let status = error.status { words.append("status \(status)") }
    if error.serverCode != nil { words.append("serverCode") }
    if error.retryAfter != nil { words.append("retryAfter") }
    if error.pendingChanges != nil { words.append("pendingChanges") }
    if error.userNeeded != nil { words.append("userNeeded") }
    if let status = error.accountStatus { words.append("accountStatus \(status)") }
    if let reason = error.reason { words.append("reason \(reason)") }
    if let cause = error.underlyingError { words.append("\(type(of: cause))") }
    return words.joined(separator: ", ")
  }

  private static func row(_ error: SessionError) -> [String] {
    [
      error.failure.name, "\(error.code)", ErrorSamples.caseName(error.advice),
      ErrorSamples.caseName(error.message), apart(error),
    ]
  }

  @Test(
    "LOG-3 LOG-7 LOG-13 OUT-3 Specs/Errors.md describes each failure of a session"
  )
  func page() {
    let rows = SpecPage("Errors.md").rows([
      "what happened", "code", "advice", "message", "what an app reads",
    ])
    let expected = ErrorSamples.sessionErrorCases.map(Self.row)
    #expect(
      rows == expected,
      "\n\(expected.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n"))")
  }

  /// Failures that an app need not distinguish.
  static let alike: Set<Set<String>> = [
    ["signInUnderWay", "clearingLocalData"], ["secretsUnavailable", "needsPresence"],
    ["notOffered", "unusableCall"], ["unreadableAnswer", "responseTooLarge"],
    // Their server codes differ.
    ["server", "databaseUnavailable"],
  ]

  @Test(
    "LOG-3 LOG-7 LOG-13 OUT-3 an app can distinguish all failures of one code, except five pairs")
  func toldApart() {
    let groups = Dictionary(grouping: ErrorSamples.sessionErrorCases) { error in
      ["\(error.code)", ErrorSamples.caseName(error.advice), Self.apart(error)]
    }
    let found = groups.values.filter { $0.count > 1 }.map { Set($0.map(\.failure.name)) }
    #expect(Set(found) == Self.alike)
  }

  @Test("LOG-13 there are at most 21 codes with distinct names, and each belongs to a failure")
  func codes() {
    let codes = SessionError.Code.all
    #expect(codes.count <= 21)
    #expect(Set(codes.map(\.description)).count == codes.count)
    #expect(Set(ErrorSamples.sessionErrorCases.map(\.code)) == Set(codes))
  }

  @Test(
    "LOG-13 a problem of an identity provider has a matching code, and is the underlying error"
  )
  func identityProvider() {
    let codes: [SessionError.Code] = ErrorSamples.webSignInProblemCases.map { _, problem in
      let error = SessionError.webSignIn(problem)
      if case .requestFailed = problem {
        // The error is that of the request (LOG-20).
        #expect(error == .server(status: 503, code: nil))
      } else {
        #expect(error.underlyingError as? WebSignInProblem == problem)
      }
      #expect(error.message == problem.message && error.advice == problem.advice)
      return error.code
    }
    #expect(
      codes == [
        .cancelled, .cancelled, .notLoggedIn, .refused, .noConnection, .refused, .invalidResponse,
        .cancelled, .serverFailure, .refused, .invalidResponse, .noReply,
        .refused,
      ])
    let code = IdentityCode("AADB2C90080")
    #expect(SessionError.webSignIn(.refused(code)).serverCode == "AADB2C90080")
  }

  @Test("LOG-8 LOG-13 a page is a network's sign-in only with a status that a network uses for it")
  func pages() {
    for (status, isOfGateway) in [
      (0, false), (200, false), (302, false), (399, false), (400, true), (403, true), (404, true),
      (405, true), (407, false), (499, true), (500, true), (502, true), (511, false), (599, true),
    ] as [(UInt16, Bool)] {
      let failure = RequestFailure(kind: .intercepted, status: status)
      let error = SessionError(failure, detail: nil, isSignIn: true)
      #expect(
        error.isExactly(
          isOfGateway ? .gatewayFailed(status: status) : .intercepted(status: status)))
    }
  }

  @Test("LOG-8 RES-3 access rights are no lock, and a lock has none")
  func rights() {
    for rights in [nil, "/x belongs to user 0"] {
      let problem = JournalError.permissionDenied(path: "/x/a.journal", rights: rights)
      let owner = SessionError.secretsOwnerUnreadable(journal: "/x/a.journal", problem: problem)
      #expect(owner.code == (rights == nil ? .locked : .storage))
      #expect((problem.advice == .unlock) == (rights == nil))
      #expect((owner.advice == .unlock) == (rights == nil))
      #expect(problem.description.contains(rights ?? "Unlock the device"))
    }
  }

  @Test(
    "LOG-13 errors are equal if they differ only in underlying errors and paths")
  func equality() {
    let full = SessionError.journal(.diskFull(path: "/a"))
    #expect(full == .journal(.diskFull(path: "/b")))
    #expect(!full.isExactly(.journal(.diskFull(path: "/b"))))
    #expect(full != .journal(.busy(path: "/a", waited: 1)), "the advice differs")
    #expect(full != .secrets(.noSpace(item: .token, place: "/a")), "another failure")
    #expect(SessionError.noConnection("offline") == .noConnection("no such host"))
    #expect(SessionError.noConnection("offline") != .noReply("offline"))
    #expect(SessionError.secretsUnavailable != .needsPresence)
    let waits = SessionError.rateLimited(retryAfter: 1)
    #expect(waits == .rateLimited(retryAfter: 1))
    #expect(waits != .rateLimited(retryAfter: 2))
    #expect(waits != .rateLimited(retryAfter: 1, status: 403))
    #expect(waits != .rateLimited(retryAfter: 1, code: "SLOW"))
    #expect(SessionError.pendingChanges(1) != .pendingChanges(2))
    let expired = SessionError.expired(EndCause(expiry: .inactivity))
    #expect(expired != .expired(EndCause(expiry: .refreshRejected)))
    #expect(expired != .expired(EndCause()))
  }

  @Test("LOG-13 the reason of an end is the expiry if the policy logged out because of it")
  func reason() {
    let kept = SessionError.expired(EndCause(expiry: .refreshRejected))
    #expect(kept.reason == .expired(.refreshRejected))
    let cleared = SessionError.loggedOut(EndCause(expiry: .refreshRejected, logout: .policy))
    #expect(cleared.code == .loggedOut && cleared.reason == .expired(.refreshRejected))
    let user = SessionError.loggedOut(EndCause(expiry: .refreshRejected, logout: .user))
    #expect(user.reason == .loggedOut(.user))
    let failure = RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_REUSED")
    let told = SessionError.expired(EndCause(expiry: .refreshRejected, failure: failure))
    #expect(told.status == 401 && told.serverCode == "TOKEN_REUSED")
    #expect(SessionError.loggedOut(EndCause()).reason == nil)
  }

  @Test("LOG-13 a code matches its errors in a catch, and no other error")
  func pattern() {
    func code(_ error: any Error) -> SessionError.Code? {
      do { throw error } catch SessionError.Code.expired, SessionError.Code.closed {
        return (error as? SessionError)?.code
      } catch { return nil }
    }
    #expect(code(SessionError.expired(EndCause())) == .expired)
    #expect(code(SessionError.closed) == .closed)
    #expect(code(SessionError.cancelled) == nil && code(CancellationError()) == nil)
  }

  @Test("LOG-2 LOG-3 a wait is a Duration, and a status of 0 is nil")
  func waits() {
    #expect(SessionError.rateLimited(retryAfter: 29_001).retryAfter == .milliseconds(29_001))
    let own = SessionError.tooManyAttempts(retryAfter: 1_000)
    #expect(own.retryAfter == .seconds(1) && own.status == nil && own.code == .rateLimited)
    let unanswered = EndCause(failure: RequestFailure(kind: .noConnection))
    #expect(SessionError.expired(unanswered).status == nil)
  }

  @Test("LOG-13 an error about something unstored has its cause as the underlying error")
  func unstored() throws {
    let problem = SecretStoreError.noSpace(item: .token, place: "/a")
    for error in [
      SessionError.notStoredYet(because: .secrets(problem)),
      .answerDropped(because: .secrets(problem)),
    ] {
      let cause = try #require(error.underlyingError as? SessionError)
      #expect(error.code == .storage && cause.code == .storage)
      #expect(cause.underlyingError as? SecretStoreError == problem)
    }
    let events = SessionError.eventsCompacted(through: 7, state: .unauthenticated)
    let compacted = try #require(events.underlyingError as? CompactedEvents)
    #expect(compacted.through == 7 && compacted.state == .unauthenticated)
    #expect(compacted.description.contains("events after 7"))
  }

  @Test(
    "RES-6 the error of an unusable journal leads to the recovery that goes on without it",
    arguments: [
      (JournalError.notAJournal(path: "/a"), true), (.empty(path: "/a"), true),
      (.headerDamaged(path: "/a"), true), (.permissionDenied(path: "/a"), false),
      (.diskFull(path: "/a"), false),
    ])
  func unusable(_ error: JournalError, _ leads: Bool) {
    let text = SessionError.journal(error).description
    #expect(text.contains("policy.recovery = .resume") == leads, "\(text)")
  }

  @Test(
    "LOG-13 an app's test can make an error of each code, with the values of a real one")
  func given() {
    for code in SessionError.Code.all { #expect(SessionError(code).code == code) }
    for error in ErrorSamples.sessionErrorCases {
      let given = SessionError(
        error.code, status: error.status, serverCode: error.serverCode,
        retryAfter: error.retryAfter, pendingChanges: error.pendingChanges, reason: error.reason,
        underlyingError: error.underlyingError)
      let name = error.failure
      #expect(given.code == error.code && given.status == error.status, "\(name)")
      #expect(given.serverCode == error.serverCode || error.code == .cancelled, "\(name)")
      #expect(given.retryAfter == error.retryAfter && given.reason == error.reason, "\(name)")
      #expect(given.pendingChanges == error.pendingChanges, "\(name)")
      #expect((given.userNeeded == nil) == (error.userNeeded == nil), "\(name)")
    }
    #expect(SessionError(.rateLimited, retryAfter: .microseconds(1)).retryAfter == .milliseconds(1))
  }

  /// Errors that are only for developers.
  static let forDevelopers: [any Error] = [
    TokenClaims.Problem.notThreeParts, SessionFold.Failure.unknownKind(9, sequence: 7),
    AnswerFailure(failure: RequestFailure(kind: .unreadable)), JournalFlaw.headerChecksum,
    CompactedEvents(through: 7, state: .unauthenticated), Discard(),
    IdentityTokenError(.issuer, expected: "a", found: nil),
    Falsified("it does not hold"),
  ]

  @Test("LOG-8 Foundation shows this library's text for every error that is thrown")
  func foundation() {
    let samples = ErrorSamples.errors.compactMap { $0.value as? any Error }
    for error in samples + Self.forDevelopers {
      #expect(!error.localizedDescription.hasPrefix("The operation "), "\(error)")
      #expect((error as? any LocalizedError)?.errorDescription?.isEmpty == false, "\(error)")
    }
  }
}
