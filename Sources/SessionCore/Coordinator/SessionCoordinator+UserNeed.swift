/// What a server needs the user for: noted when it begins, thrown to callers, and folded until it ends.
///
/// | what happens | a need begins |
/// | --- | --- |
/// | a refresh fails with `userNeeded` | yes |
/// | a refresh of an expired token fails with `unexpected` as the one before | yes: `refused` |
/// | a call is refused with `userNeeded`, and its token is the current one | yes, of the call |
/// | the same need is open already | no |
/// | a refresh needs the user already, and a call does | no |
///
/// ``OpenIntents/endNeed(after:)`` says when it ends.
///
/// - Requirement: STA-9
extension SessionCoordinator {
  /// Returns what a failed refresh shows to be needed; `nil` if that is open already, or nothing is.
  func need(
    after failure: RequestFailure, of session: SessionState.Authenticated, at now: ClockReading
  ) -> SessionNote.UserNeeded? {
    // A server that refuses twice without a reason that is known here would leave the user without a
    // way in. A good token is not worth a question.
    // No user helps an app that is refused, or an address that is not there.
    let isOfApp =
      failure.serverCode.flatMap { ErrorMeaning(code: $0) } == .clientRefused
      || failure.status == 404 || failure.status == 405
    let isRepeated =
      failure.kind == .unexpected && !failure.asksForRepetition && !isOfApp
      && !isTokenGood(at: now.uptime) && session.failures.last == failure
    guard failure.kind == .userNeeded || isRepeated else { return nil }
    let need = SessionNote.UserNeeded(
      generation: session.token.generation, isOfCall: false, failure: failure)
    return fold.intents.need?.covers(need) == true ? nil : need
  }

  /// Notes that a call is refused without the user; a newer token may be accepted.
  mutating func callNeedsUser(_ need: SessionNote.UserNeeded, at now: ClockReading)
    -> [SessionEffect]
  {
    guard stopped == nil, isRestored, need.generation == fold.tokenGeneration,
      fold.intents.need?.covers(need) != true
    else { return [] }
    return commit([.note(.userNeeded(need))], for: .need(need), at: now)
  }

  /// What callers receive for a failed refresh.
  func problem(_ failure: RequestFailure, at now: ClockReading) -> CommandFailure {
    guard let need = fold.intents.need, need.needed.failure == failure else {
      return .request(failure)
    }
    return .userNeeded(UserNeed(need, tokenStillWorks: isTokenGood(at: now.uptime)))
  }
}
