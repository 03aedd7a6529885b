extension SessionMessage {
  /// What happened, in English.
  var inEnglish: String {
    switch self {
    case .userNameMissing: "The user name is missing."
    case .notAnEmail: "The user name must be an e-mail address."
    case .passwordMissing: "The password is missing."
    case .passwordTooShort(let minimum): "The password must have at least \(minimum) characters."
    case .providerSignInMissing: "Signing in with the other service did not work."
    case .wrongCredentials: "The user name or the password is wrong."
    case .invalidInput: "The service did not accept what was entered."
    case .notSignedIn: "You are not signed in."
    case .alreadySignedIn: "Somebody is signed in on this device already."
    case .otherUsersSession: "The session that has expired belongs to somebody else."
    case .signInUnderWay: "A sign-in is under way already."
    case .sessionExpired: "Your session has expired."
    case .endedByService: "The service has ended your session."
    case .inactive: "Your session ended because it was not used for a long time."
    case .storedSignInLost: "Your sign-in is no longer stored on this device."
    case .loggedOut: "You have been logged out."
    case .changesNotSent(let count):
      "You were not logged out, because \(count == 1 ? "1 change has" : "\(count) changes have") not "
        + "been sent."
    case .notProlongable: "Your sign-in cannot be extended. You can go on until it ends."
    case .signInRefused: "The service did not accept your sign-in for this."
    case .overtaken: "Your session changed in the meantime, and nothing was done."
    case .closed: "The session is closed."
    case .cancelled: "It was cancelled."
    case .notAllowed: "You are not allowed to do this."
    case .accountInactive: "Your account is not active."
    case .accountDeleted: "Your account has been deleted."
    case .accountLocked: "Your account is locked."
    case .notFound: "It could not be found."
    case .conflict: "It was changed elsewhere in the meantime."
    case .alreadyDeleted: "It has been deleted already."
    case .tooManyRequests: "There were too many attempts."
    case .serviceTrouble: "The service has a problem."
    case .dataTrouble: "The service cannot reach its data at the moment."
    case .strangeAnswer: "The service answered in a way that this app does not understand."
    case .unreadableAnswer: "The answer of the service cannot be read."
    case .appNotSetUp: "This app is not set up correctly for the service."
    case .networkSignIn:
      "Something on the network answered instead of the service. The network may want you to sign in to "
        + "it: open a page in the browser."
    case .noConnection: "The service cannot be reached. Check your connection."
    case .noAnswer: "The service did not answer. It may have done what you asked for."
    case .insecureConnection: "The connection to the service would not be private."
    case .deviceLocked: "What is stored on this device cannot be read yet. You are not logged out."
    case .noSpace: "There is no space left on this device."
    case .answerNotStored(let cause):
      "\(cause.inEnglish) The service's answer will count as soon as it can be stored."
    case .answerDropped(let cause):
      "\(cause.inEnglish) The service's last answer is lost. You may have to sign in again."
    case .storageBusy: "Something else is using what is stored on this device."
    case .storageLost: "The app has lost its hold on what it stores on this device."
    case .storageUnusable: "The app cannot use what it stores on this device."
    case .storageDamaged: "What the app stores on this device is damaged."
    case .newerData: "What is stored on this device was written by a newer version of the app."
    case .tooLarge: "What should be stored on this device is too large."
    case .notTidied: "The app could not tidy up what it stores on this device. Nothing is lost."
    case .historySummedUp: "Older entries have been summed up."
    case .othersChanges(let count):
      "\(count == 1 ? "1 change of somebody else has" : "\(count) changes of somebody else have") not "
        + "been sent yet."
    case .changesFull(let count):
      "\(count == 1 ? "1 change has" : "\(count) changes have") not been sent, and there is no room for "
        + "another."
    case .changeTooLong: "This is too long to be kept until it can be sent."
    case .changeGivenUp: "This change could not be sent and was given up."
    case .changeNotWaiting: "This change is not waiting any more. It may have been sent."
    case .changesBeingSent: "Your changes are being sent already."
    case .logoutUnderWay: "You are being logged out."
    case .serviceNotToldYet: "You are logged out. The service will be told later."
    case .notClearedYet:
      "You are logged out. What is stored on this device will be cleared the next time the app opens."
    case .nowLoggedOut: "You are logged out."
    }
  }
}

extension SessionAdvice {
  /// The advice, in English.
  var inEnglish: String {
    switch self {
    case .retry: "Try again."
    case .wait(nil): "Try again later."
    case .wait(let seconds?): "Try again in \(SpokenWait(seconds: seconds).inEnglish)."
    case .correctInput: "Check what you entered."
    case .sendOrDiscard: "Try to send again, or discard what you do not need."
    case .signIn: "Sign in to go on."
    case .logOut: "Log out first."
    case .unlock: "Unlock the device."
    case .freeSpace: "Free some space."
    case .reopen: "Close the app and open it again."
    case .update: "Update the app."
    case .contactSupport: "Contact support."
    case .nothing: ""
    }
  }
}

extension SpokenWait {
  fileprivate var inEnglish: String {
    switch self {
    case .seconds(let count): count == 1 ? "1 second" : "\(count) seconds"
    case .minutes(let count): "\(count) minutes"
    case .hours(let count): "\(count) hours"
    }
  }
}
