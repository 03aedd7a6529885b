@_spi(Internals) import SessionCore
import SessionJournal

/// The text of an error for users, in English, with advice for the app.
///
/// It contains no path, no status and no code, and nothing that was entered or that a server sent.
/// SessionMessages has the texts in more languages.
///
/// - Requirement: LOG-8, STO-3
package struct ErrorText: Hashable, Sendable {
  /// What happened.
  package let problem: String
  /// What the app should do.
  package let advice: SessionAdvice

  /// Creates a text.
  package init(_ problem: String, _ advice: SessionAdvice) {
    (self.problem, self.advice) = (problem, advice)
  }

  /// The advice as a sentence; `nil` if nothing has to be done.
  package var suggestion: String? {
    let text = advice.inEnglish
    return text.isEmpty ? nil : text
  }
}

extension ErrorText {
  package static let userNameMissing = ErrorText("The user name is missing.", .correctInput)
  package static let notAnEmail = ErrorText(
    "The user name must be an e-mail address.", .correctInput)
  package static let passwordMissing = ErrorText("The password is missing.", .correctInput)
  package static func passwordTooShort(minimumLength minimum: Int) -> ErrorText {
    ErrorText(
      "The password must have at least \(minimum) characters.",
      .correctInput)
  }
  package static let providerSignInMissing = ErrorText(
    "Signing in with the other service did not work.",
    .retry)
  package static let wrongCredentials = ErrorText(
    "The user name or the password is wrong.", .correctInput)
  package static let invalidInput = ErrorText(
    "The service did not accept what was entered.", .correctInput)
  package static let notSignedIn = ErrorText("You are not logged in.", .signIn)
  package static let alreadySignedIn = ErrorText(
    "A user is already logged in on this device.", .logOut)
  package static let otherUsersSession = ErrorText(
    "The expired session belongs to another user.",
    .logOut)
  package static let signInUnderWay = ErrorText(
    "A login is already in progress.", .wait(nil))
  package static let sessionExpired = ErrorText("Your session has expired.", .signIn)
  package static let endedByService = ErrorText("The service has ended your session.", .signIn)
  package static let inactive = ErrorText(
    "Your session ended because it was not used for a long time.",
    .signIn)
  package static let storedSignInLost = ErrorText(
    "Your login is no longer stored on this device.",
    .signIn)
  package static let loggedOut = ErrorText("You have been logged out.", .signIn)
  package static func changesNotSent(count: Int) -> ErrorText {
    ErrorText(
      "You were not logged out, because \(count == 1 ? "1 change has" : "\(count) changes have") "
        + "not been sent.",
      .sendOrDiscard)
  }
  package static let notProlongable = ErrorText(
    "Your session cannot be extended. You can continue until it ends.",
    .nothing)
  package static let signInRefused = ErrorText(
    "The service did not accept your login for this.", .retry)
  package static let superseded = ErrorText(
    "Your session changed in the meantime. Nothing was done.",
    .retry)
  package static let closed = ErrorText("The session is closed.", .reopen)
  package static let cancelled = ErrorText("It was cancelled.", .nothing)
  package static let notAllowed = ErrorText("You are not allowed to do this.", .contactSupport)
  package static let accountInactive = ErrorText("Your account is not active.", .contactSupport)
  package static let accountDeleted = ErrorText("Your account has been deleted.", .contactSupport)
  package static let accountLocked = ErrorText("Your account is locked.", .contactSupport)
  package static let notFound = ErrorText("It could not be found.", .correctInput)
  package static let conflict = ErrorText("It was changed elsewhere in the meantime.", .retry)
  package static let alreadyDeleted = ErrorText("It has been deleted already.", .nothing)
  package static func tooManyRequests(waitSeconds wait: Int?) -> ErrorText {
    ErrorText(
      "There were too many attempts.",
      .wait(wait.map { .seconds($0) }))
  }
  package static func serviceTrouble(waitSeconds wait: Int?) -> ErrorText {
    ErrorText(
      "The service has a problem.",
      .wait(wait.map { .seconds($0) }))
  }
  package static func dataTrouble(waitSeconds wait: Int?) -> ErrorText {
    ErrorText(
      "The service cannot reach its data at the moment.",
      .wait(wait.map { .seconds($0) }))
  }
  package static let strangeAnswer = ErrorText(
    "The service responded in a way that this app does not understand.",
    .contactSupport)
  package static let unreadableAnswer = ErrorText(
    "The response of the service cannot be read.",
    .contactSupport)
  package static let appNotSetUp = ErrorText(
    "This app is not set up correctly for the service.",
    .contactSupport)
  package static let networkSignIn = ErrorText(
    "Something on the network responded instead of the service. The network may require you to "
      + "sign in to it: open a page in the browser.",
    .retry)
  package static let gatewayTrouble = ErrorText(
    "The service, or something in front of it, responded with an error.", .wait(nil))
  package static let noConnection = ErrorText(
    "The service cannot be reached. Check your connection.",
    .retry)
  package static let noAnswer = ErrorText(
    "The service did not answer. It may have done what you asked for.",
    .retry)
  package static let insecureConnection = ErrorText(
    "The connection to the service would not be private.",
    .contactSupport)
  package static let deviceLocked = ErrorText(
    "The app's data on this device cannot be read yet. You are not logged out.",
    .unlock)
  package static let noAccess = ErrorText(
    "The app may not read its data on this device. You are not logged out.", .contactSupport)
  package static let dataNotFound = ErrorText(
    "The app does not find its data on this device, and looks for it again. You are not logged out.",
    .retry)
  package static let noSpace = ErrorText("There is no space left on this device.", .freeSpace)
  package static func answerNotStored(because cause: ErrorText) -> ErrorText {
    ErrorText(
      "\(cause.problem) The service's response will count as soon as it can be stored.",
      cause.advice)
  }
  package static func answerDropped(because cause: ErrorText) -> ErrorText {
    ErrorText(
      "\(cause.problem) The service's last response is lost. You may have to log in again.",
      .reopen)
  }
  package static let storageBusy = ErrorText(
    "Another process is using the app's data on this device.",
    .retry)
  package static let storageLost = ErrorText(
    "The app has lost access to its data on this device.",
    .reopen)
  package static let storageUnusable = ErrorText(
    "The app cannot use its data on this device.",
    .contactSupport)
  package static let storageDamaged = ErrorText(
    "The app's data on this device is damaged.",
    .contactSupport)
  package static let newerData = ErrorText(
    "A newer version of the app wrote the data on this device.",
    .update)
  package static let tooLarge = ErrorText(
    "The data to store on this device is too large.",
    .contactSupport)
  package static let notTidied = ErrorText(
    "The app could not tidy up its data on this device. Nothing is lost.",
    .nothing)
  package static let historySummedUp = ErrorText("Older entries have been summarized.", .nothing)
  package static let logoutUnderWay = ErrorText("You are being logged out.", .wait(nil))
}
