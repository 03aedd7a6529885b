public import Foundation
import SessionChanges
@_spi(Internals) public import SessionCore
public import SessionHTTP
import SessionJournal
public import SessionKit

/// A message for users.
///
/// All conditions that are the same for a user share one message.
///
/// Errors distinguish more conditions, for developers. For example, every error about a damaged
/// file has the same message. A message contains numbers at most, so its texts cannot contain a
/// secret or a path. An app with its own texts, or with a fourth language, switches over it.
///
/// - Requirement: LOG-8
public enum SessionMessage: Hashable, Sendable {
  // Input.
  /// The user name is missing.
  case userNameMissing
  /// The user name should be an e-mail address.
  case notAnEmail
  /// The password is missing.
  case passwordMissing
  /// The password is shorter than the minimum.
  case passwordTooShort(minimumLength: Int)
  /// The sign-in with another service failed.
  case providerSignInMissing
  /// The user name or the password is wrong.
  case wrongCredentials
  /// The service did not accept the input.
  case invalidInput

  // The session.
  /// No user is signed in.
  case notSignedIn
  /// A user is signed in already.
  case alreadySignedIn
  /// The session that expired belongs to another user.
  case otherUsersSession
  /// A sign-in is in progress already.
  case signInUnderWay
  /// The session has expired.
  case sessionExpired
  /// The service ended the session.
  case endedByService
  /// The session was unused for too long.
  case inactive
  /// The stored sign-in is lost or cannot be used.
  case storedSignInLost
  /// The session was logged out.
  case loggedOut
  /// This number of changes wait or were given up, so the user was not logged out.
  case changesNotSent(count: Int)
  /// The session cannot be extended, and is valid until it ends.
  case notProlongable
  /// The service does not accept the session for this request now.
  case signInRefused
  /// Another change of the session came first.
  case superseded
  /// The session object was closed.
  case closed
  /// The operation was cancelled.
  case cancelled

  // The account.
  /// The user is not allowed to do this.
  case notAllowed
  /// The account is not active.
  case accountInactive
  /// The account was deleted.
  case accountDeleted
  /// The account is locked.
  case accountLocked

  // The service.
  /// The requested data does not exist.
  case notFound
  /// The data was changed elsewhere.
  case conflict
  /// The data is already deleted.
  case alreadyDeleted
  /// There were too many attempts.
  case tooManyRequests(waitSeconds: Int?)
  /// The service has a problem.
  case serviceTrouble(waitSeconds: Int?)
  /// The service cannot access its data.
  case dataTrouble(waitSeconds: Int?)
  /// The app does not understand the service's response.
  case strangeAnswer
  /// The service's response cannot be read.
  case unreadableAnswer
  /// The app is not set up correctly: a feature or the address of the service is missing.
  case appNotSetUp

  // The network.
  /// The network requires a sign-in, or another machine intercepts the connection.
  case networkSignIn
  /// The service, or something in front of it, responded with an error.
  case gatewayTrouble
  /// The service cannot be reached.
  case noConnection
  /// The service did not respond, but may have acted.
  case noAnswer
  /// The connection would not be private.
  case insecureConnection

  // Stored data.
  /// The stored data cannot be read until the device is unlocked.
  case deviceLocked
  /// This process may not read the stored data, and no unlock changes that.
  case noAccess
  /// The stored data is not there, and is searched for again.
  case dataNotFound
  /// There is no space on the device.
  case noSpace
  /// The service's response cannot be stored yet, for this reason.
  ///
  /// It counts after it is stored.
  indirect case answerNotStored(because: SessionMessage)
  /// The service's last response could not be stored, for this reason, and is lost.
  indirect case answerDropped(because: SessionMessage)
  /// Another process uses the stored data.
  case storageBusy
  /// The stored data was moved or failed, and must be opened again.
  case storageLost
  /// The stored data cannot be used.
  case storageUnusable
  /// The stored data is damaged.
  case storageDamaged
  /// A newer version wrote the stored data.
  case newerData
  /// The data to store is too large.
  case tooLarge
  /// The stored data could not be compacted.
  case notTidied
  /// Old events were replaced by a summary.
  case historySummedUp

  // Changes that wait to be sent.
  /// This number of changes of another user wait, and must be sent or discarded first.
  case othersChanges(count: Int)
  /// This number of changes wait or were given up, and there is no space for more.
  case changesFull(count: Int)
  /// The change is too long to be stored.
  case changeTooLong
  /// The change was given up.
  ///
  /// It is not sent unless the user tries it again.
  case changeGivenUp
  /// The change is not waiting any more.
  case changeNotWaiting
  /// The changes are being sent.
  case changesBeingSent

  // A logout.
  /// The user is being logged out.
  case logoutUnderWay
  /// The user is logged out, and the service is informed later.
  case serviceNotToldYet
  /// The user is logged out, and the device is cleared later.
  case notClearedYet
  /// The user is logged out.
  case nowLoggedOut

  /// What the app should do.
  public var advice: SessionAdvice { english.advice }

  /// Returns what happened, without the advice.
  public func problem(in language: SessionLanguage = .preferred) -> String {
    switch language {
    case .english: english.problem
    case .spanish: inSpanish
    case .portuguese: inPortuguese
    }
  }

  /// Returns what happened, followed by the advice.
  public func text(in language: SessionLanguage = .preferred) -> String {
    let advice = advice.text(in: language)
    return advice.isEmpty ? problem(in: language) : problem(in: language) + " " + advice
  }
}

extension SessionMessage: ChangeMessage {}

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

  /// Returns what happened and what to do, in one to three sentences for the user.
  public func text(in language: SessionLanguage = .preferred) -> String {
    message.text(in: language)
  }
}

/// An error that an app may show to its user.
///
/// In an app that links this module, `localizedDescription` and `recoverySuggestion` of these errors are in
/// ``SessionCore/SessionLanguage/preferred``.
public protocol UserFacingError: UserFacing, LocalizedError {}

extension UserFacingError {
  package var translatedProblem: String { message.problem(in: .preferred) }

  package var translatedSuggestion: String? {
    let text = advice.text()
    return text.isEmpty ? nil : text
  }
}

extension SessionError: TranslatedError {}
extension SecretStoreError: TranslatedError {}
extension TransportError: TranslatedError {}
extension JournalError: TranslatedError {}
extension CredentialRules.Problem: TranslatedError {}
extension WebSignInProblem: TranslatedError {}
extension SessionRejection: TranslatedError {}
extension ChangeLogError: TranslatedError {}
extension SyncGateClosed: TranslatedError {}

extension SessionLanguage {
  /// The language in which the app runs, or else the user's first preferred language.
  public static var preferred: SessionLanguage {
    SessionLanguage(preferring: Bundle.main.preferredLocalizations + Locale.preferredLanguages)
  }
}
