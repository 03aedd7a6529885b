import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit

// One sample of each case, by enumeration.

extension ErrorSamples {
  static let sessionErrorCases: [SessionError] = [
    .invalidCredential(.notAnEmail),
    .notSignedIn,
    .alreadySignedIn,
    .otherUsersSession(after: EndCause(expiry: .tokenExpired)),
    .superseded,
    .signInUnderWay,
    .secretsUnavailable,
    .needsPresence,
    .pendingChanges(3),
    .clearingLocalData,
    .noRefreshToken,
    .notOffered(marked),
    .wrongAddress(marked),
    .unusableCall(call: marked, problem: marked),
    .webSignIn(.cancelledByUser),
    .appRefused(status: 401, code: marked),
    .invalidRequest(code: marked),
    .invalidCredentials(code: marked),
    .unauthorized(code: marked),
    .forbidden(code: marked),
    .userInactive,
    .userDeleted,
    .notFound,
    .conflict(code: marked),
    .alreadyDeleted,
    .accountLocked,
    .rateLimited(retryAfter: 29_001),
    .tooManyAttempts(retryAfter: 29_001),
    .server(status: 503, code: marked, retryAfter: 29_001),
    .databaseUnavailable(code: marked, retryAfter: 29_001),
    .unexpectedStatus(418),
    .refreshRefused(400, code: marked),
    .unreadableAnswer(marked),
    .intercepted(status: 200),
    .noConnection(marked),
    .notTrusted(marked),
    .noReply(marked),
    .responseTooLarge(call: marked, limit: 7),
    .responseTooSlow(call: marked, limit: .seconds(7)),
    .expired(EndCause(expiry: .tokenExpired)),
    .loggedOut(EndCause(logout: .user)),
    .notStoredYet(because: .journal(.diskFull(path: marked))),
    .answerDropped(because: .journal(.diskFull(path: marked))),
    .journal(.diskFull(path: marked)),
    .unusableJournal(path: marked, sequence: 7, problem: marked),
    .eventsCompacted(through: 7, state: .unauthenticated),
    .secrets(.noSpace(item: .token, place: marked)),
    .secretsOfAnotherSession(journal: marked),
    .secretsOwnerUnreadable(journal: marked, problem: .permissionDenied(path: marked)),
    .closed,
    .cancelled,
  ]

  static let journalErrorCases: [JournalError] = [
    .missing(path: marked),
    .folderMissing(path: marked),
    .emptyPath,
    .danglingLink(path: marked),
    .isDirectory(path: marked),
    .notARegularFile(path: marked),
    .permissionDenied(path: marked),
    .readOnlyFolder(path: marked),
    .empty(path: marked),
    .notAJournal(path: marked),
    .headerDamaged(path: marked),
    .newerFormat(path: marked, found: 9, supported: 1),
    .unknownFeatures(path: marked, features: 8),
    .damaged(path: marked, damage),
    .replaced(path: marked, expected: identifier, found: identifier),
    .diskFull(path: marked),
    .noRoomToCreate(path: marked),
    .io(path: marked, operation: marked, code: 5),
    .busy(path: marked, waited: 9),
    .unavailable(path: marked, problem: marked),
    .conflict(path: marked, expected: 1, found: 2),
    .poisoned(path: marked),
    .recordTooLarge(path: marked, bytes: 9, maximum: 8),
    .batchTooLarge(path: marked, records: 9, bytes: 9),
    .hardLinked(path: marked, links: 2),
    .compactionRefused(path: marked, .copyDiffers),
    .reservedKind(path: marked, kind: 255),
    .closed(path: marked),
  ]

  static let secretStoreErrorCases: [SecretStoreError] = [
    .unavailable(item: .token, place: marked),
    .newerVersion(item: .token, found: 9),
    .notWritable(item: .token, place: marked),
    .noSpace(item: .token, place: marked),
    .obstructed(place: marked, by: marked),
    .tooLarge(item: .token, place: marked, maximum: 9),
    .failed(item: .token, place: marked, operation: marked, code: 5),
    .otherBackend(item: .token, stored: marked, configured: marked),
  ]

  static let credentialProblemCases: [CredentialRules.Problem] = [
    .emptyUserName,
    .notAnEmail,
    .emptyPassword,
    .passwordTooShort(minimumLength: 8),
    .emptyProviderToken,
  ]

  static let webSignInProblemCases: [WebSignInProblem] = [
    .cancelledByUser,
    .forgottenPassword,
    .noAccount,
    .refused(IdentityCode("AADB2C90080")),
    .unreachable,
    .viewFailed,
    .unreadableTokens,
    .cancelled,
  ]

  static let transportErrorCases: [TransportError] = [
    .noConnection(marked),
    .notTrusted(marked),
    .noReply(marked),
    .badAddress(marked),
    .insecure(host: marked),
    .cancelled,
  ]

  static let changeLogErrorCases: [ChangeLogError] = [
    .sessionExpired,
    .notSignedIn,
    .notKnown,
    .othersChanges(3),
    .full(count: 3, bytes: 4_194_000),
    .contentTooLong(bytes: 1_048_577, limit: 1_048_576),
    .keyInUse(Identifier(marked)),
    .givenUp(Identifier(marked)),
    .loggingOut(until: Timestamp(milliseconds: 0)),
    .signInEnded,
    .unknownKey(Identifier(marked)),
    .drainUnderWay,
    .notAChangeLog(path: marked, sequence: 1, kind: 2),
    .newerVersion(path: marked, sequence: 7, kind: 183),
    .unusable(path: marked, sequence: 7, problem: marked),
    .journal(.closed(path: marked)),
  ]
}
