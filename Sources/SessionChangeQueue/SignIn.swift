@_spi(Internals) public import SessionCore

/// The sign-in of a change: a session's journal, and the generation of its token at that time.
///
/// Generations of one journal are never reused, so the order of two sign-ins of one journal is
/// known.
public struct SignIn: Hashable, Sendable {
  /// The session's journal.
  public let journal: Identifier
  /// The generation of the token.
  public let generation: Generation

  /// Creates a sign-in.
  public init(journal: Identifier, generation: Generation) {
    self.journal = journal
    self.generation = generation
  }
}

extension ChangeQueue {
  /// Returns whether that sign-in ended permanently, so that nothing is accepted through it any
  /// more.
  public func hasEnded(_ signIn: SignIn) -> Bool {
    ended.contains { $0.journal == signIn.journal && signIn.generation <= $0.generation }
  }

  /// Returns the time until which nothing is accepted through the session of `journal`, because it
  /// is being logged out.
  ///
  /// Returns `nil` if it is not. `isGone` returns whether a holder is proven to be gone. A record's
  /// time in the future was written before the clock was set back, so that hold is ignored.
  @_spi(Internals) public func isLeaving(
    _ journal: Identifier, at time: Timestamp,
    isGone: (_ holder: ProcessIdentity, _ process: UInt32) -> Bool
  ) -> Timestamp? {
    leaving.filter { held in
      guard held.leaving.journal == journal, time < held.leaving.until, held.since <= time else {
        return false
      }
      // A hold without a holder's name cannot be proven to be gone, so it lasts until its end.
      return holder(of: held).map { !isGone($0, held.leaving.process) } ?? true
    }.map(\.leaving.until).max()
  }

  /// Returns the number of a user's changes, pending or dead letters, that the server has not
  /// accepted.
  ///
  /// If `user` is `nil`, counts those of all users.
  public func unsentCount(of user: Identifier?) -> Int {
    guard let user else { return unsentCount }
    return pending.count { $0.user == user } + failures.count { $0.user == user }
  }

  /// Returns the events to append after the sign-in of `user` ended permanently.
  ///
  /// With `discards`, they include the removal of its changes. Returns none if that was written
  /// before and nothing is left.
  ///
  /// Changes of a later sign-in of the same journal and of another user stay. If `user` is `nil`,
  /// only changes that are known to be of that sign-in are removed.
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
    // An old log may contain a key twice. Both changes are removed at once.
    var seen: Set<Identifier> = []
    let keys = found.filter { seen.insert($0).inserted }
    guard !keys.isEmpty else { return end }
    guard found.count < unsentCount else {
      return end + [.discarded(.init(cause: .logout))]
    }
    return end + keys.map { .discarded(.init(key: $0, cause: .logout)) }
  }
}
