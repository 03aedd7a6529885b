/// What a server needs the user for: noted when it begins, thrown to callers, and folded until it ends.
///
/// | what happens | a need begins |
/// | --- | --- |
/// | a refresh fails with `userNeeded` | yes |
/// | a refresh of an expired token fails with `unexpected` as the one before | yes: `refused` |
/// | … and the app or its request is refused | no |
/// | a call is refused with `userNeeded`, and its token is the current one | yes, of the call |
/// | a refresh failed with the same need already | no |
/// | a call is refused, and a need is open already | no |
///
/// ``OpenIntents/renew(answered:isNewLogin:)`` and ``OpenIntents/end()`` end it.
///
/// - Requirement: STA-9
extension SessionCoordinator {
  /// Returns what a failed refresh shows to be needed; `nil` if that is open already, or nothing is.
  func need(
    after failure: RequestFailure, of session: SessionState.Authenticated, at now: ClockReading
  ) -> SessionNote.UserNeeded? {
    // A server that refuses twice without a reason that is known here would leave the user without a
    // way in. A good token is not worth a question.
    // No user helps an app or a request that is refused.
    let code = failure.serverCode ?? ""
    let meaning = opening.configuredMeaning(of: failure) ?? ErrorMeaning(code: code)
    let isOfApp =
      meaning == .clientRefused || RequestFailure.requestCodes.contains(code)
      || ![400, 401, 403].contains(failure.status)
    let isRepeated =
      failure.kind == .unexpected && !failure.asksForRepetition && !isOfApp
      && !isTokenGood(at: now.uptime) && session.failures.last?.isAlike(failure) == true
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
    guard let need = fold.intents.need, need.needed.failure.isAlike(failure) else {
      return .request(failure)
    }
    return .userNeeded(UserNeed(need, tokenStillWorks: isTokenGood(at: now.uptime)))
  }
}
