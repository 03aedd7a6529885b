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
  /// The service asks the user to authenticate again.
  case userNeeded
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
  /// The app waits for its user to unlock it.
  case appLocked
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
}

extension SessionMessage {
  /// What the app should do.
  public var advice: SessionAdvice { english.advice }

  /// What happened, in English, and what the app should do.
  package var english: (problem: String, advice: SessionAdvice) {
    switch self {
    case .userNameMissing: ("The user name is missing.", .correctInput)
    case .notAnEmail: ("The user name must be an e-mail address.", .correctInput)
    case .passwordMissing: ("The password is missing.", .correctInput)
    case .passwordTooShort(let minimum):
      ("The password must have at least \(minimum) characters.", .correctInput)
    case .providerSignInMissing: ("Signing in with the other service did not work.", .retry)
    case .wrongCredentials: ("The user name or the password is wrong.", .correctInput)
    case .invalidInput: ("The service did not accept what was entered.", .correctInput)
    case .notSignedIn: ("You are not logged in.", .signIn)
    case .alreadySignedIn: ("A user is already logged in on this device.", .logOut)
    case .otherUsersSession: ("The expired session belongs to another user.", .logOut)
    case .signInUnderWay: ("A login is already in progress.", .wait(nil))
    case .sessionExpired: ("Your session has expired.", .signIn)
    case .endedByService: ("The service has ended your session.", .signIn)
    case .inactive: ("Your session ended because it was not used for a long time.", .signIn)
    case .storedSignInLost: ("Your login is no longer stored on this device.", .signIn)
    case .loggedOut: ("You have been logged out.", .signIn)
    case .changesNotSent(let count):
      (
        "You were not logged out, because \(count == 1 ? "1 change has" : "\(count) changes have") "
          + "not been sent.", .sendOrDiscard
      )
    case .notProlongable:
      ("Your session cannot be extended. You can continue until it ends.", .nothing)
    case .userNeeded: ("The service asks you to confirm who you are.", .signIn)
    case .signInRefused: ("The service did not accept your login for this.", .retry)
    case .superseded: ("Your session changed in the meantime. Nothing was done.", .retry)
    case .closed: ("The session is closed.", .reopen)
    case .cancelled: ("It was cancelled.", .nothing)
    case .notAllowed: ("You are not allowed to do this.", .contactSupport)
    case .accountInactive: ("Your account is not active.", .contactSupport)
    case .accountDeleted: ("Your account has been deleted.", .contactSupport)
    case .accountLocked: ("Your account is locked.", .contactSupport)
    case .notFound: ("It could not be found.", .correctInput)
    case .conflict: ("It was changed elsewhere in the meantime.", .retry)
    case .alreadyDeleted: ("It has been deleted already.", .nothing)
    case .tooManyRequests(let wait):
      ("There were too many attempts.", .wait(wait.map { .seconds($0) }))
    case .serviceTrouble(let wait): ("The service has a problem.", .wait(wait.map { .seconds($0) }))
    case .dataTrouble(let wait):
      ("The service cannot reach its data at the moment.", .wait(wait.map { .seconds($0) }))
    case .strangeAnswer:
      ("The service responded in a way that this app does not understand.", .contactSupport)
    case .unreadableAnswer: ("The response of the service cannot be read.", .contactSupport)
    case .appNotSetUp: ("This app is not set up correctly for the service.", .contactSupport)
    case .networkSignIn:
      (
        "Something on the network responded instead of the service. The network may require you to "
          + "sign in to it: open a page in the browser.", .retry
      )
    case .gatewayTrouble:
      ("The service, or something in front of it, responded with an error.", .wait(nil))
    case .noConnection: ("The service cannot be reached. Check your connection.", .retry)
    case .noAnswer: ("The service did not answer. It may have done what you asked for.", .retry)
    case .insecureConnection:
      ("The connection to the service would not be private.", .contactSupport)
    case .deviceLocked:
      ("The app's data on this device cannot be read yet. You are not logged out.", .unlock)
    case .appLocked: ("The app is locked. You are not logged out.", .unlockApp)
    case .noAccess:
      ("The app may not read its data on this device. You are not logged out.", .contactSupport)
    case .dataNotFound:
      (
        "The app does not find its data on this device, and looks for it again. You are not logged out.",
        .retry
      )
    case .noSpace: ("There is no space left on this device.", .freeSpace)
    case .answerNotStored(let cause):
      (
        "\(cause.english.problem) The service's response will count as soon as it can be stored.",
        cause.english.advice
      )
    case .answerDropped(let cause):
      (
        "\(cause.english.problem) The service's last response is lost. You may have to log in again.",
        .reopen
      )
    case .storageBusy: ("Another process is using the app's data on this device.", .retry)
    case .storageLost: ("The app has lost access to its data on this device.", .reopen)
    case .storageUnusable: ("The app cannot use its data on this device.", .contactSupport)
    case .storageDamaged: ("The app's data on this device is damaged.", .contactSupport)
    case .newerData: ("A newer version of the app wrote the data on this device.", .update)
    case .tooLarge: ("The data to store on this device is too large.", .contactSupport)
    case .notTidied:
      ("The app could not tidy up its data on this device. Nothing is lost.", .nothing)
    case .historySummedUp: ("Older entries have been summarized.", .nothing)
    case .othersChanges(let count):
      (
        "\(count == 1 ? "1 change of another user has" : "\(count) changes of another user have") "
          + "not been sent yet.", .logOut
      )
    case .changesFull(let count):
      (
        "\(count == 1 ? "1 change has" : "\(count) changes have") not been sent, and there is no "
          + "space for another.", .sendOrDiscard
      )
    case .changeTooLong: ("This is too long to be kept until it can be sent.", .correctInput)
    case .changeGivenUp: ("This change could not be sent and was given up.", .sendOrDiscard)
    case .changeNotWaiting: ("This change is no longer pending. It may have been sent.", .nothing)
    case .changesBeingSent: ("Your changes are already being sent.", .wait(nil))
    case .logoutUnderWay: ("You are being logged out.", .wait(nil))
    case .serviceNotToldYet: ("You are logged out. The service will be told later.", .nothing)
    case .notClearedYet:
      (
        "You are logged out. What is stored on this device will be cleared the next time the app opens.",
        .nothing
      )
    case .nowLoggedOut: ("You are logged out.", .nothing)
    }
  }
}
