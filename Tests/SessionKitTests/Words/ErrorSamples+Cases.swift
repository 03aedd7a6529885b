import SessionAccounts
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionWebSignIn

// One sample of each failure of a session, and of each case of the other errors, by name.

extension ErrorSamples {
  static let sessionErrorCases: [SessionError] = [
    .invalidCredential(.notAnEmail),
    .notSignedIn,
    .alreadySignedIn,
    .otherUsersSession(after: EndCause(expiry: .tokenExpired)),
    .superseded,
    .signInUnderWay,
    .secretsUnavailable,
    .needsPresence, .appLocked,
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
    .codeRefused(400, code: marked),
    .unauthorized(code: marked),
    .forbidden(code: marked),
    .userInactive(),
    .userDeleted(),
    .userNeeded(
      UserNeed(
        OpenNeed(
          SessionNote.UserNeeded(
            generation: Generation(1), isOfCall: true,
            failure: RequestFailure(kind: .userNeeded, status: 401, serverCode: marked),
            demand: AuthenticationDemand("max_age=300")),
          since: Timestamp(milliseconds: 0)), tokenStillWorks: true)),
    .notFound(),
    .conflict(code: marked),
    .alreadyDeleted(),
    .accountLocked(),
    .rateLimited(retryAfter: 29_001),
    .tooManyAttempts(retryAfter: 29_001),
    .server(status: 503, code: marked, retryAfter: 29_001),
    .databaseUnavailable(code: marked, retryAfter: 29_001),
    .unexpectedStatus(418),
    .refreshRefused(400, code: marked),
    .unreadableAnswer(marked),
    .intercepted(status: 200),
    .gatewayFailed(status: 502),
    .noConnection(marked),
    .notTrusted(marked),
    .noReply(marked),
    .responseTooLarge(call: marked, limit: 7),
    .responseTooSlow(call: marked, limit: .seconds(7)),
    .expired(EndCause(expiry: .tokenExpired)),
    .loggedOut(EndCause(logout: .user)), .proofKeyLost,
    .notStoredYet(because: .journal(.diskFull(path: marked))),
    .answerDropped(because: .journal(.diskFull(path: marked))),
    .journal(.diskFull(path: marked)),
    .unusableJournal(path: marked, sequence: 7, problem: marked),
    .movedAway(from: marked),
    .cannotMoveYet(from: marked, because: marked),
    .eventsCompacted(through: 7, state: .unauthenticated),
    .secrets(.noSpace(item: .token, place: marked)),
    .secretsOfAnotherSession(journal: marked),
    .secretsOwnerUnreadable(journal: marked, problem: .permissionDenied(path: marked)),
    .closed,
    .cancelled,
  ]

  static let journalErrorCases: KeyValuePairs<String, JournalError> = [
    "missing": .missing(path: marked),
    "folderMissing": .folderMissing(path: marked),
    "emptyPath": .emptyPath,
    "danglingLink": .danglingLink(path: marked),
    "isDirectory": .isDirectory(path: marked),
    "notARegularFile": .notARegularFile(path: marked),
    "permissionDenied": .permissionDenied(path: marked, rights: marked),
    "readOnlyFolder": .readOnlyFolder(path: marked),
    "empty": .empty(path: marked),
    "notAJournal": .notAJournal(path: marked),
    "headerDamaged": .headerDamaged(path: marked),
    "newerFormat": .newerFormat(path: marked, found: 9, supported: 1),
    "unknownFeatures": .unknownFeatures(path: marked, features: 8),
    "damaged": .damaged(path: marked, damage),
    "replaced": .replaced(path: marked, expected: identifier, found: identifier),
    "diskFull": .diskFull(path: marked),
    "noRoomToCreate": .noRoomToCreate(path: marked),
    "io": .io(path: marked, operation: marked, code: 5),
    "busy": .busy(path: marked, waited: 9),
    "unavailable": .unavailable(path: marked, problem: marked),
    "conflict": .conflict(path: marked, expected: 1, found: 2),
    "poisoned": .poisoned(path: marked),
    "recordTooLarge": .recordTooLarge(path: marked, bytes: 9, maximum: 8),
    "batchTooLarge": .batchTooLarge(path: marked, records: 9, bytes: 9),
    "hardLinked": .hardLinked(path: marked, links: 2),
    "compactionRefused": .compactionRefused(path: marked, .copyDiffers),
    "reservedKind": .reservedKind(path: marked, kind: 255),
    "closed": .closed(path: marked),
  ]

  static let secretStoreErrorCases: KeyValuePairs<String, SecretStoreError> = [
    "unavailable": .unavailable(item: .token, place: marked),
    "accessDenied": .accessDenied(item: .token, place: marked, rights: marked, code: 13),
    "notFound": .notFound(item: .token),
    "storedElsewhere": .storedElsewhere(item: .token),
    "newerVersion": .newerVersion(item: .token, found: 9),
    "notWritable": .notWritable(item: .token, place: marked),
    "noSpace": .noSpace(item: .token, place: marked),
    "noRoomForNext": .noRoomForNext(item: .token, place: marked, bytes: 9),
    "obstructed": .obstructed(place: marked, by: marked),
    "tooLarge": .tooLarge(item: .token, place: marked, maximum: 9),
    "failed": .failed(item: .token, place: marked, operation: marked, code: 5),
    "otherBackend": .otherBackend(item: .token, stored: marked, configured: marked),
  ]

  static let credentialProblemCases: KeyValuePairs<String, CredentialRules.Problem> = [
    "emptyUserName": .emptyUserName,
    "notAnEmail": .notAnEmail,
    "emptyPassword": .emptyPassword,
    "passwordTooShort": .passwordTooShort(minimumLength: 8),
    "emptyProviderToken": .emptyProviderToken,
  ]

  static let webSignInProblemCases: KeyValuePairs<String, WebSignInProblem> = [
    "cancelledByUser": .cancelledByUser,
    "forgottenPassword": .forgottenPassword,
    "noAccount": .noAccount,
    "refused": .refused(IdentityCode("AADB2C90080")),
    "unreachable": .unreachable,
    "viewFailed": .viewFailed,
    "unreadableTokens": .unreadableTokens,
    "cancelled": .cancelled,
    "requestFailed": .requestFailed(RequestFailure(kind: .server, status: 503), detail: nil),
    "otherIssuer": .otherIssuer(expected: marked, found: marked),
    "identityToken": .identityToken(IdentityTokenError(.issuer, expected: marked, found: marked)),
    "noRedirect": .noRedirect(within: .seconds(7)),
    "noPage": .noPage(marked),
  ]

  static let transportErrorCases: KeyValuePairs<String, TransportError> = [
    "noConnection": .noConnection(marked),
    "notTrusted": .notTrusted(marked),
    "noReply": .noReply(marked),
    "badAddress": .badAddress(marked),
    "insecure": .insecure(host: marked),
    "cancelled": .cancelled,
  ]

  static let openIDProviderErrorCases: KeyValuePairs<String, OpenIDProviderError> = [
    "invalidIssuer": .invalidIssuer(marked),
    "unreachable": .unreachable(.noConnection(marked)),
    "refused": .refused(status: 404, address: marked),
    "unreadable": .unreadable(marked, address: marked),
    "unsuitable": .unsuitable(member: marked, expected: marked, found: marked),
  ]

  static let changeLogErrorCases: KeyValuePairs<String, ChangeLogError> = [
    "sessionExpired": .sessionExpired,
    "notSignedIn": .notSignedIn,
    "notKnown": .notKnown,
    "othersChanges": .othersChanges(3),
    "full": .full(count: 3, bytes: 4_194_000),
    "contentTooLong": .contentTooLong(bytes: 1_048_577, limit: 1_048_576),
    "keyInUse": .keyInUse(Identifier(marked)),
    "givenUp": .givenUp(Identifier(marked)),
    "loggingOut": .loggingOut(until: Timestamp(milliseconds: 0)),
    "signInEnded": .signInEnded,
    "unknownKey": .unknownKey(Identifier(marked)),
    "drainUnderWay": .drainUnderWay,
    "notAChangeLog": .notAChangeLog(path: marked, sequence: 1, kind: 2),
    "newerVersion": .newerVersion(path: marked, sequence: 7, kind: 183),
    "unusable": .unusable(path: marked, sequence: 7, problem: marked),
    "journal": .journal(.closed(path: marked)),
  ]

  static let accountsErrorCases: KeyValuePairs<String, AccountsError> = [
    "unknown": .unknown(Identifier(marked)),
    "leaving": .leaving(Identifier(marked)),
    "full": .full,
    "wrongDirectory": .wrongDirectory,
    "inUse": .inUse(Identifier(marked)),
    "notAccounts": .notAccounts(path: marked, sequence: 1, kind: 2),
    "newerVersion": .newerVersion(path: marked, sequence: 7, kind: 191),
    "unusable": .unusable(path: marked, sequence: 7, problem: marked),
    "journal": .journal(.closed(path: marked)),
    "session": .session(Identifier(marked), .closed),
  ]
}
