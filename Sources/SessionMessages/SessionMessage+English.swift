import SessionChanges
import SessionKit

extension SessionMessage {
  /// The English text and the advice.
  ///
  /// SessionKit has the texts of errors.
  var english: ErrorText {
    switch self {
    case .userNameMissing: .userNameMissing
    case .notAnEmail: .notAnEmail
    case .passwordMissing: .passwordMissing
    case .passwordTooShort(let minimum): .passwordTooShort(minimumLength: minimum)
    case .providerSignInMissing: .providerSignInMissing
    case .wrongCredentials: .wrongCredentials
    case .invalidInput: .invalidInput
    case .notSignedIn: .notSignedIn
    case .alreadySignedIn: .alreadySignedIn
    case .otherUsersSession: .otherUsersSession
    case .signInUnderWay: .signInUnderWay
    case .sessionExpired: .sessionExpired
    case .endedByService: .endedByService
    case .inactive: .inactive
    case .storedSignInLost: .storedSignInLost
    case .loggedOut: .loggedOut
    case .changesNotSent(let count): .changesNotSent(count: count)
    case .notProlongable: .notProlongable
    case .signInRefused: .signInRefused
    case .superseded: .superseded
    case .closed: .closed
    case .cancelled: .cancelled
    case .notAllowed: .notAllowed
    case .accountInactive: .accountInactive
    case .accountDeleted: .accountDeleted
    case .accountLocked: .accountLocked
    case .notFound: .notFound
    case .conflict: .conflict
    case .alreadyDeleted: .alreadyDeleted
    case .tooManyRequests(let wait): .tooManyRequests(waitSeconds: wait)
    case .serviceTrouble(let wait): .serviceTrouble(waitSeconds: wait)
    case .dataTrouble(let wait): .dataTrouble(waitSeconds: wait)
    case .strangeAnswer: .strangeAnswer
    case .unreadableAnswer: .unreadableAnswer
    case .appNotSetUp: .appNotSetUp
    case .networkSignIn: .networkSignIn
    case .gatewayTrouble: .gatewayTrouble
    case .noConnection: .noConnection
    case .noAnswer: .noAnswer
    case .insecureConnection: .insecureConnection
    case .deviceLocked: .deviceLocked
    case .noAccess: .noAccess
    case .dataNotFound: .dataNotFound
    case .noSpace: .noSpace
    case .answerNotStored(let cause): .answerNotStored(because: cause.english)
    case .answerDropped(let cause): .answerDropped(because: cause.english)
    case .storageBusy: .storageBusy
    case .storageLost: .storageLost
    case .storageUnusable: .storageUnusable
    case .storageDamaged: .storageDamaged
    case .newerData: .newerData
    case .tooLarge: .tooLarge
    case .notTidied: .notTidied
    case .historySummedUp: .historySummedUp
    case .othersChanges(let count): .othersChanges(count: count)
    case .changesFull(let count): .changesFull(count: count)
    case .changeTooLong: .changeTooLong
    case .changeGivenUp: .changeGivenUp
    case .changeNotWaiting: .changeNotWaiting
    case .changesBeingSent: .changesBeingSent
    case .logoutUnderWay: .logoutUnderWay
    case .serviceNotToldYet:
      ErrorText("You are logged out. The service will be told later.", .nothing)
    case .notClearedYet:
      ErrorText(
        "You are logged out. What is stored on this device will be cleared the next time the app opens.",
        .nothing)
    case .nowLoggedOut: ErrorText("You are logged out.", .nothing)
    }
  }
}
