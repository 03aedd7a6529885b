public import Foundation
@_spi(Internals) public import SessionCore
public import SessionJournal

/// A value that an app can show to its user: what happened and what to do.
///
/// The texts for users differ from those for developers (`description`). They contain no path, no
/// status, no code of a server, no member of a response, and no input.
///
/// - Requirement: LOG-8
public protocol UserFacing: Sendable {
  /// The message, independent of the language.
  var message: SessionMessage { get }
}

extension UserFacing {
  /// What the app should do.
  public var advice: SessionAdvice { message.advice }
}

/// An error that an app may show to its user.
///
/// `localizedDescription` is for users, and `description` is for developers.
/// `localizedDescription` and `recoverySuggestion` are in English. In an app that links
/// SessionMessages, they are in `SessionLanguage.preferred`.
public protocol UserFacingError: UserFacing, LocalizedError {}

extension UserFacingError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? {
    (message as? any TranslatedMessage)?.translatedProblem ?? message.english.problem
  }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? {
    let text = (message as? any TranslatedMessage)?.translatedAdvice ?? advice.inEnglish
    return text.isEmpty ? nil : text
  }
}

/// A message with texts in the language of the app: SessionMessages adds the conformance of
/// ``SessionMessage`` if it is linked.
package protocol TranslatedMessage {
  var translatedProblem: String { get }
  var translatedAdvice: String { get }
}

extension SessionError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { row.message }
}

extension CredentialRules.Problem: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .emptyUserName: .userNameMissing
    case .notAnEmail: .notAnEmail
    case .emptyPassword: .passwordMissing
    case .passwordTooShort(let minimum): .passwordTooShort(minimumLength: minimum)
    case .emptyProviderToken: .providerSignInMissing
    }
  }
}

extension WebSignInProblem: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { row.message }
}

extension JournalError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .missing, .folderMissing, .emptyPath, .danglingLink, .isDirectory, .notARegularFile,
      .readOnlyFolder, .notAJournal, .io, .hardLinked, .reservedKind:
      .storageUnusable
    case .permissionDenied(_, let rights): rights == nil ? .deviceLocked : .noAccess
    case .empty, .headerDamaged, .damaged: .storageDamaged
    case .newerFormat, .unknownFeatures: .newerData
    case .replaced, .poisoned: .storageLost
    case .diskFull, .noRoomToCreate: .noSpace
    case .busy, .unavailable, .conflict: .storageBusy
    case .recordTooLarge, .batchTooLarge: .tooLarge
    case .compactionRefused: .notTidied
    case .closed: .closed
    }
  }
}

extension SecretStoreError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .unavailable: .deviceLocked
    case .accessDenied: .noAccess
    case .notFound: .dataNotFound
    case .notWritable, .obstructed, .failed, .otherBackend, .storedElsewhere: .storageUnusable
    case .newerVersion: .newerData
    case .noSpace, .noRoomForNext: .noSpace
    case .tooLarge: .tooLarge
    }
  }
}

extension SessionRejection: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { SessionError(self, after: EndCause()).message }
}

/// The reason of an expiry, as an app shows it.
extension ExpiryReason: UserFacing {
  /// The message for the user.
  ///
  /// A reason that this version does not know has the message that the session expired.
  public var message: SessionMessage {
    switch self {
    case .refreshRejected, .endedByServer: .endedByService
    case .attemptsExhausted: .serviceTrouble(waitSeconds: nil)
    case .secretsMissing, .corruptStorage, .secretsOutdated, .secretsNewer, .proofKeyLost:
      .storedSignInLost
    case .userInactive: .accountInactive
    case .inactivity: .inactive
    default: .sessionExpired
    }
  }
}

// Users do not see these errors, so the texts are those of `description`.

extension CodecError: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension IdentityTokenError: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension PayloadFold.Failure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension SessionFold.Failure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension JournalFlaw: LocalizedError {
  /// The same as the explanation.
  public var errorDescription: String? { explanation }
}

extension CompactedEvents: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
