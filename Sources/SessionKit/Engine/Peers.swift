@_spi(Internals) import SessionCore

/// What other processes append: the task that reads it, and records that were not passed on yet.
struct Peers: Sendable {
  /// Records that were read under the lock but not yet passed to the coordinator.
  var undelivered: [SessionRecord] = []
  private var follower: Task<Void, Never>?

  /// Returns the records that were not passed on, which count as passed on now.
  mutating func takeUndelivered() -> [SessionRecord] {
    defer { undelivered = [] }
    return undelivered
  }

  /// Sets the task that reads the journal after a change of its file.
  mutating func follow(_ task: Task<Void, Never>) { follower = task }

  func stopFollowing() { follower?.cancel() }
}
