/// The calls with which the hosts of a session clear their data after a logout.
///
/// ```
///               clear                      ended: all data is cleared
///  idle ──────────────────────▶ calling ──────────────────────────────▶ idle, and it is journaled
///                                ▲    │
///       clear, retry, tryAgain   │    │ ended: data remains
///                                │    ▼
///                               pending ── retries after 1, 10 and 60 seconds
/// ```
///
/// The time limit of the call that runs has states of its own:
///
/// ```
///        began               the time is over               the grace period is over
///  off ─────────▶ running ──────────────────────▶ cancelled ─────────────────────────▶ exceeded
///   ▲                └──────────────────────────────┴─────────────────────────────────────┤
///   └─────────────────────────────────────── ended ───────────────────────────────────────┘
/// ```
///
/// Logins wait while it is calling. A call whose limit is exceeded still runs, and may remove the data
/// of the next user. So no user can log in until it returns (`clear-app-data-after-a-logout`).
///
/// - Requirement: SYN-5
package struct DataClearing: Hashable, Sendable {
  // It is a machine beside the coordinator and not in it: it appends no event but
  // `localDataCleared`, and an input for each timer of a host would have made every run of the
  // sweeps longer. As eight properties of the engine, its retries needed a session, a server and a
  // clock to be tested.

  /// What the hosts have in common.
  package struct Hosts: Hashable, Sendable {
    /// Whether a host keeps data that a logout removes.
    package let haveData: Bool
    /// Whether a host can remove the data of one login after the next one.
    package let separateLogins: Bool
    /// How long a call may take, in milliseconds; `nil` for no limit.
    package let limit: Int64?

    /// Creates a description of the hosts.
    package init(haveData: Bool, separateLogins: Bool, limit: Int64?) {
      (self.haveData, self.separateLogins, self.limit) = (haveData, separateLogins, limit)
    }
  }

  /// A logout whose data the hosts clear.
  package struct Logout: Hashable, Sendable {
    /// The reason of the logout.
    package let reason: LogoutReason
    /// The session's user; `nil` if unknown.
    package let user: Identifier?
    /// The last token of the session, or a later generation before the next login.
    package let generation: Generation
    /// Whether a user has logged in since.
    ///
    /// Then only hosts that can tell logins apart are called.
    package var hasLaterLogin = false

    /// Creates a logout after which no user has logged in.
    package init(reason: LogoutReason, user: Identifier?, generation: Generation) {
      (self.reason, self.user, self.generation) = (reason, user, generation)
    }
  }

  /// The timers of the machine.
  package enum Timer: Hashable, Sendable {
    /// The end of the running call's time.
    case limit
    /// The next try after a failure.
    case retry
  }

  /// What a caller that waits for the calls receives.
  package enum Answer: Hashable, Sendable {
    /// No call runs, and the caller can continue.
    case ended
    /// The call exceeds its limit and still runs.
    case overdue
    /// The session closes.
    case closed
  }

  /// What the shell must do next.
  package enum Effect: Hashable, Sendable {
    /// Call the hosts after the calls before; this is the number of the call.
    case call(Int, Logout)
    /// Cancel the call of this number.
    case cancelCall(Int)
    /// Set a timer, and replace the one before.
    case schedule(Timer, uptime: Int64)
    /// Remove a timer.
    case cancel(Timer)
    /// Answer every caller that waits.
    case answer(Answer)
    /// End the hold of hosts that cannot tell logins apart: they are not called any more.
    case releaseHold
    /// Journal that the data is cleared.
    case journal
  }

  /// The pauses before failed calls are tried again, in milliseconds after the last try.
  package static let pauses: [Int64] = [1_000, 10_000, 60_000]
  /// The time for a call to return after it was cancelled, in milliseconds.
  package static let grace: Int64 = 1_000
  /// A limit of more than a year has the same effect as none.
  private static let longestLimit: Int64 = 31_536_000_000

  private enum Limit: Hashable, Sendable {
    /// No call with a limit runs. Exits: `running`.
    case off
    /// The call of this number may run until then. Exits: `off`, `cancelled`.
    case running(Int, end: Int64)
    /// The call was asked to return. Exits: `off`, `exceeded`.
    case cancelled
    /// No caller waits for the call any more. Exits: `off`.
    case exceeded
  }

  private enum Session: Hashable, Sendable {
    /// Exits: `withoutJournal`, `closing`.
    case open
    /// Another journal decides who is signed in, so nothing is tried again. Exits: `closing`.
    case withoutJournal
    /// Nothing is tried again, and no caller waits. Exits: none.
    case closing
  }

  private let hosts: Hosts
  private var calls: [Int: Logout] = [:]
  private var limit = Limit.off
  /// The logouts whose data could not be cleared, oldest first.
  private var pending: [Logout] = []
  /// The number of consecutive failures that were followed by a retry.
  private var failures = 0
  private var session = Session.open
  /// The number of calls so far.
  package private(set) var callCount = 0

  /// Creates a machine that has nothing to clear.
  package init(_ hosts: Hosts) {
    self.hosts = hosts
  }

  /// Whether a host clears its data, or is about to.
  package var isCalling: Bool { !calls.isEmpty }

  /// Whether data that should be cleared is still there.
  package var isNeeded: Bool { !pending.isEmpty || isCalling }

  /// What a caller that needs cleared data receives now; `nil` if it waits.
  package var answer: Answer? {
    if !isCalling { return .ended }
    if session == .closing { return .closed }
    // A login that continues after the limit was rejected: the host may remove what the new user
    // stores meanwhile, and a login that fails can be repeated.
    return limit == .exceeded ? .overdue : nil
  }

  // MARK: Logouts

  /// Clears the data of a session that has ended with a logout.
  package mutating func clear(_ logout: Logout) -> [Effect] {
    hosts.haveData ? call(logout) : []
  }

  /// Clears the data of a logout after which a user has logged in.
  ///
  /// The data of other hosts may be the new user's.
  package mutating func clear(_ overtaken: PendingDataClearing.Overtaken) -> [Effect] {
    guard hosts.separateLogins else { return [] }
    var logout = Logout(
      reason: overtaken.reason, user: overtaken.user, generation: overtaken.generation)
    logout.hasLaterLogin = true
    return call(logout)
  }

  /// Tries again, before a login or after a pause.
  package mutating func tryAgain() -> [Effect] {
    guard !isCalling, session == .open else { return [] }
    let due = pending
    pending = []
    return due.flatMap { call($0) }
  }

  private mutating func call(_ logout: Logout) -> [Effect] {
    callCount += 1
    calls[callCount] = logout
    return [.call(callCount, logout)]
  }

  // MARK: Calls

  /// Records that a call begins, after the calls before.
  package mutating func began(_ number: Int, at uptime: Int64) -> [Effect] {
    guard let length = hosts.limit else { return [] }
    let end = uptime.addingSaturating(min(max(0, length), Self.longestLimit))
    limit = .running(number, end: end)
    return [.schedule(.limit, uptime: end)]
  }

  /// Records how a call has ended.
  ///
  /// A host that cannot tell logins apart has cleared the data of earlier logouts too. Other hosts
  /// are called again for each logout whose call failed.
  ///
  /// `hasUser` says whether a user has logged in since.
  package mutating func ended(
    _ number: Int, isCleared: Bool, hasUser: Bool, at uptime: Int64
  ) -> [Effect] {
    guard let logout = calls.removeValue(forKey: number) else { return [] }
    limit = .off
    if !isCleared {
      pending.append(logout)
    } else if !hosts.separateLogins {
      pending = []
    }
    var effects = observe(hasUser: hasUser) + [.cancel(.limit)]
    // The note in the journal covers all logouts before it.
    guard !isCalling else { return effects }
    effects.append(.answer(.ended))
    if pending.isEmpty {
      failures = 0
      effects.append(.journal)
    } else if failures < Self.pauses.count {
      let due = uptime.addingSaturating(Self.pauses[failures])
      failures += 1
      effects.append(.schedule(.retry, uptime: due))
    }
    return effects
  }

  /// Handles a timer.
  package mutating func fired(_ timer: Timer) -> [Effect] {
    switch (timer, limit) {
    case (.retry, _): return tryAgain()
    case (.limit, .running(let number, let end)):
      limit = .cancelled
      let givenUp = end.addingSaturating(Self.grace)
      return [.cancelCall(number), .schedule(.limit, uptime: givenUp)]
    case (.limit, .cancelled):
      limit = .exceeded
      return [.answer(.overdue)]
    case (.limit, .off), (.limit, .exceeded): return []
    }
  }

  // MARK: The session

  /// Handles the present state: `hasUser` unless it is unauthenticated.
  ///
  /// Data that is still there after a login may be the new user's.
  ///
  /// - Requirement: OUT-3
  package mutating func observe(hasUser: Bool) -> [Effect] {
    guard hasUser, pending.contains(where: { !$0.hasLaterLogin }) else { return [] }
    for index in pending.indices { pending[index].hasLaterLogin = true }
    return [.releaseHold]
  }

  /// Ends the retries, because another journal has replaced the session's.
  package mutating func loseJournal() {
    if session == .open { session = .withoutJournal }
  }

  /// Ends the retries and every wait; a call that runs continues.
  package mutating func close() -> [Effect] {
    session = .closing
    return [.cancel(.retry), .answer(.closed)]
  }
}

/// Whether data of the last logout is still to be cleared by the host.
///
/// A `localDataCleared` note or a new login settles it.
///
/// - Requirement: SYN-5
package struct PendingDataClearing: Hashable, Sendable {
  // No part of the session's fold: no state depends on it, and a snapshot need not hold it. While a
  // host clears, the journal is not compacted, so the record that shows what is to be cleared is
  // still there.

  /// A logout whose data was not reported as cleared before another user or the same one logged in.
  ///
  /// The data that the host has now may be the new user's. Only a host that keeps data per login
  /// can tell.
  package struct Overtaken: Hashable, Sendable {
    /// Why that session was closed permanently.
    package let reason: LogoutReason
    /// The user of that session; `nil` if unknown.
    package let user: Identifier?
    /// The last token of that session, or a later generation before the new login.
    package let generation: Generation
  }

  /// Why the session was closed permanently; `nil` if nothing is to be cleared.
  package private(set) var reason: LogoutReason?
  /// The user who logged in last, if that record was read.
  package private(set) var user: Identifier?
  /// The older logout whose data only a host that keeps data per login can still clear.
  package private(set) var overtaken: Overtaken?

  /// Creates a value with nothing to clear.
  package init() {}

  /// Takes in the next record.
  package mutating func take(_ content: SessionRecord.Content) {
    switch content {
    case .event(.logout(let logout)): reason = logout.reason
    case .event(.login(let login)):
      if let reason {
        let number = login.token.generation.number
        overtaken = Overtaken(
          reason: reason, user: user, generation: Generation(number > 0 ? number - 1 : 0))
      }
      (reason, user) = (nil, login.user)
    case .note(.localDataCleared): (reason, overtaken) = (nil, nil)
    case .event, .note, .snapshot, .unknown: break
    }
  }

  /// Whether records of this kind matter here, so that the payload must be decoded.
  package static func reads(_ kind: UInt8) -> Bool {
    kind == SessionEvent.Kind.logout.rawValue || kind == SessionEvent.Kind.login.rawValue
      || kind == SessionNote.Kind.localDataCleared.rawValue
  }
}
