@_spi(Internals) public import SessionCore
public import SessionKit

/// What is said to a user: one value for everything that is the same to them.
///
/// Errors tell developers apart what users need not: all that is said of a damaged file is one message
/// here. It holds numbers at most, so that no secret and no path can be in its words. An app with
/// words of its own, or in a fourth language, switches over it.
///
/// - Requirement: LOG-8
public enum SessionMessage: Hashable, Sendable {
  // What was entered.
  /// There is no user name.
  case userNameMissing
  /// The user name should be an e-mail address.
  case notAnEmail
  /// There is no password.
  case passwordMissing
  /// The password has fewer characters than it must.
  case passwordTooShort(minimumLength: Int)
  /// The sign-in with another service brought nothing.
  case providerSignInMissing
  /// User name or password is wrong.
  case wrongCredentials
  /// The service did not accept what was entered.
  case invalidInput

  // The session.
  /// Nobody is signed in.
  case notSignedIn
  /// Somebody is signed in already.
  case alreadySignedIn
  /// The session that expired belongs to somebody else.
  case otherUsersSession
  /// A sign-in is under way already.
  case signInUnderWay
  /// The session has expired.
  case sessionExpired
  /// The session was ended by the service.
  case endedByService
  /// The session was not used for too long.
  case inactive
  /// The stored sign-in is lost or cannot be used.
  case storedSignInLost
  /// The session was logged out.
  case loggedOut
  /// So many changes wait or were given up, so nobody was logged out.
  case changesNotSent(count: Int)
  /// The sign-in cannot be prolonged, and is good until it ends.
  case notProlongable
  /// The service does not accept the sign-in for this just now.
  case signInRefused
  /// Something else changed the session meanwhile.
  case superseded
  /// The session object was closed.
  case closed
  /// It was given up.
  case cancelled

  // The account.
  /// It is not allowed.
  case notAllowed
  /// The account is not active.
  case accountInactive
  /// The account was deleted.
  case accountDeleted
  /// The account is locked.
  case accountLocked

  // The service.
  /// What was asked for is not there.
  case notFound
  /// It was changed elsewhere.
  case conflict
  /// It is deleted already.
  case alreadyDeleted
  /// Too many attempts.
  case tooManyRequests(waitSeconds: Int?)
  /// The service is in trouble.
  case serviceTrouble(waitSeconds: Int?)
  /// The service cannot get at its data.
  case dataTrouble(waitSeconds: Int?)
  /// The service's answer is not understood.
  case strangeAnswer
  /// The service's answer cannot be read.
  case unreadableAnswer
  /// The app asks the service for what it has not, or asks where it is not.
  case appNotSetUp

  // The network.
  /// The network itself wants something first, or something stands between.
  case networkSignIn
  /// The service cannot be reached.
  case noConnection
  /// The service did not answer, and may have acted.
  case noAnswer
  /// The connection would not be private.
  case insecureConnection

  // What is kept on the device.
  /// What is stored cannot be read until the device is unlocked.
  case deviceLocked
  /// There is no room.
  case noSpace
  /// What the service answered cannot be stored yet, for this reason; it counts once it is.
  indirect case answerNotStored(because: SessionMessage)
  /// What the service answered last could not be stored, for this reason, and is lost.
  indirect case answerDropped(because: SessionMessage)
  /// Something else uses what is stored.
  case storageBusy
  /// What is stored was moved or failed, and has to be opened again.
  case storageLost
  /// What is stored cannot be used.
  case storageUnusable
  /// What is stored is damaged.
  case storageDamaged
  /// What is stored was written by a newer version.
  case newerData
  /// What should be stored is too large.
  case tooLarge
  /// What is stored could not be tidied up.
  case notTidied
  /// Old entries were summed up.
  case historySummedUp

  // Changes that wait to be sent.
  /// So many changes of somebody else wait, and must go first.
  case othersChanges(count: Int)
  /// So many changes wait or were given up, and there is room for no more.
  case changesFull(count: Int)
  /// What was entered is too long to wait.
  case changeTooLong
  /// The change was given up: it is not sent any more unless it is tried again.
  case changeGivenUp
  /// The change does not wait any more.
  case changeNotWaiting
  /// The changes are being sent.
  case changesBeingSent

  // A logout.
  /// The user is being logged out.
  case logoutUnderWay
  /// Logged out, and the service is told later.
  case serviceNotToldYet
  /// Logged out, and the device is cleared later.
  case notClearedYet
  /// Logged out.
  case nowLoggedOut

  /// What the app should do.
  public var advice: SessionAdvice { english.advice }

  /// What happened, without the advice.
  public func problem(in language: SessionLanguage = .preferred) -> String {
    switch language {
    case .english: english.problem
    case .spanish: inSpanish
    case .portuguese: inPortuguese
    }
  }

  /// What happened and, behind it, the advice.
  public func text(in language: SessionLanguage = .preferred) -> String {
    let advice = advice.text(in: language)
    return advice.isEmpty ? problem(in: language) : problem(in: language) + " " + advice
  }
}
