@_spi(Internals) public import SessionCore

/// Through which sign-in a change came: a session's journal, and the token that it had then.
///
/// Tokens of one journal have numbers that never come again, so of two of one journal it is known which was
/// before the other.
public struct SignIn: Hashable, Sendable {
  /// The session's journal.
  public let journal: Identifier
  /// The token.
  public let generation: Generation

  /// A sign-in.
  public init(journal: Identifier, generation: Generation) {
    self.journal = journal
    self.generation = generation
  }
}

extension ChangeQueue {
  /// Whether that sign-in was ended for good: nothing comes through it any more.
  public func hasEnded(_ signIn: SignIn) -> Bool {
    ended.contains { $0.journal == signIn.journal && signIn.generation <= $0.generation }
  }

  /// Until when nothing is taken in through the session of `journal`, since it is being logged out.
  ///
  /// `nil` if it is not. `isGone` says which holder is proven to be gone. A time in the future was
  /// written before the clock was set back: it holds no process.
  @_spi(Internals) public func isLeaving(
    _ journal: Identifier, at time: Timestamp,
    isGone: (_ holder: ProcessIdentity, _ process: UInt32) -> Bool
  ) -> Timestamp? {
    leaving.filter { held in
      guard held.leaving.journal == journal, time < held.leaving.until, held.since <= time else {
        return false
      }
      // Of a hold without a holder's name nothing is proven: it lasts to its end.
      return holder(of: held).map { !isGone($0, held.leaving.process) } ?? true
    }.map(\.leaving.until).max()
  }

  /// How many changes of a user, pending or given up, the server has not taken; of everybody's where the
  /// user is not known.
  public func unsentCount(of user: Identifier?) -> Int {
    guard let user else { return unsentCount }
    return pending.count { $0.user == user } + failures.count { $0.user == user }
  }

  /// What is to be written where the sign-in of `user` was ended for good, and whether what it has left
  /// goes with it; nothing where that was written before and nothing is left.
  ///
  /// What a later sign-in of the same journal has added stays, and so does another user's. Where the user is
  /// not known, only what is known to be of that sign-in goes.
  public func ending(_ signIn: SignIn, of user: Identifier?, discards: Bool) -> [ChangeEvent] {
    let end: [ChangeEvent] = hasEnded(signIn) ? [] : [.signInEnded(signIn)]
    guard discards else { return end }
    func isOf(_ author: SignIn?, _ owner: Identifier) -> Bool {
      guard user == nil || owner == user else { return false }
      guard let author, author.journal == signIn.journal else { return user != nil }
      return author.generation <= signIn.generation
    }
    let found =
      pending.filter { isOf($0.signIn, $0.user) }.map(\.change.key)
      + failures.filter { isOf($0.signIn, $0.user) }.map(\.change.key)
    // A key may be there twice in a log of before, and goes at once.
    var seen: Set<Identifier> = []
    let keys = found.filter { seen.insert($0).inserted }
    guard !keys.isEmpty else { return end }
    guard found.count < unsentCount else {
      return end + [.discarded(.init(cause: .logout))]
    }
    return end + keys.map { .discarded(.init(key: $0, cause: .logout)) }
  }
}
