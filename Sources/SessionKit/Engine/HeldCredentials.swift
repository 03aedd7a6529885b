import SessionCore

/// The token and the user that this process holds in memory.
struct HeldCredentials: Sendable {
  /// A token of a response whose event could not be journaled yet.
  struct Unjournaled: Sendable {
    let number: RequestNumber
    let token: StoredToken
    let deadline: Int64
  }

  /// The token of the session, as far as the stored items could be read.
  var token: StoredToken?
  /// The token of a response whose event could not be journaled yet.
  ///
  /// It is stored, so a crash does not lose it. It is the token that the server accepts.
  ///
  /// - Requirement: RES-6
  var unjournaled: Unjournaled?
  /// The token that a sign-in has stored but could not journal, until it is undone.
  var loginToRollBack: StoredToken?
  /// The profile of the user.
  var profile: UserProfile?
  /// The source that named the user in the profile; `nil` if that is not known.
  var origin: UserOrigin?

  /// Forgets the tokens, because another journal decides who is signed in.
  mutating func loseTokens() {
    (token, unjournaled) = (nil, nil)
  }
}
