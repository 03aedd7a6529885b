package import SessionKit

// The texts for users about pending changes, in English.
extension ErrorText {
  package static func othersChanges(count: Int) -> ErrorText {
    ErrorText(
      "\(count == 1 ? "1 change of another user has" : "\(count) changes of another user have") "
        + "not been sent yet.",
      .logOut)
  }
  package static func changesFull(count: Int) -> ErrorText {
    ErrorText(
      "\(count == 1 ? "1 change has" : "\(count) changes have") not been sent, and there is no "
        + "space for another.",
      .sendOrDiscard)
  }
  package static let changeTooLong = ErrorText(
    "This is too long to be kept until it can be sent.",
    .correctInput)
  package static let changeGivenUp = ErrorText(
    "This change could not be sent and was given up.",
    .sendOrDiscard)
  package static let changeNotWaiting = ErrorText(
    "This change is no longer pending. It may have been sent.",
    .nothing)
  package static let changesBeingSent = ErrorText(
    "Your changes are already being sent.",
    .wait(nil))
}
