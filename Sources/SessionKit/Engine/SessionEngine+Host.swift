@_spi(Internals) import SessionCore
import SessionJournal

/// The calls with which hosts clear their data: performs what `DataClearing` decides.
///
/// - Requirement: SYN-5
extension SessionEngine {
  /// Has the hosts clear the data of the session that has ended.
  func clearLocalData(_ reason: LogoutReason) {
    let logout = DataClearing.Logout(
      reason: reason, user: lastUser, generation: coordinator.fold.generation)
    perform(hosts.clearing.clear(logout))
  }

  func perform(_ effects: [DataClearing.Effect]) {
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: DataClearing.Effect) {
    switch effect {
    case .call(let number, let logout): callHosts(number, logout)
    case .cancelCall(let number): hosts.cancel(number)
    case .schedule(let timer, let uptime):
      hosts.timers.schedule(timer, at: uptime) { [weak self] in await self?.fired(timer, $0) }
    case .cancel(let timer): hosts.timers.cancel(timer)
    case .answer(let answer): hosts.waiters.endAll(with: answer.error)
    case .releaseHold: releaseHosts { $0.hasUserData && !$0.separatesSignIns }
    case .journal: feed(.cleared)
    }
  }

  private func callHosts(_ number: Int, _ logout: DataClearing.Logout) {
    let ended = EndedSession(logout, in: log.identifier.asIdentifier)
    let configuration = configuration
    hosts.start(number, on: runtime) { [weak self] in
      await self?.began(number)
      let isCleared = await configuration.clear(ended)
      await self?.ended(number, isCleared: isCleared)
    }
  }

  private func began(_ number: Int) {
    perform(hosts.clearing.began(number, at: configuration.clock.now().uptime))
  }

  private func ended(_ number: Int, isCleared: Bool) {
    hosts.remove(number)
    perform(
      hosts.clearing.ended(
        number, isCleared: isCleared, hasUser: hasUser, at: configuration.clock.now().uptime))
  }

  private func fired(_ timer: DataClearing.Timer, _ number: UInt64) {
    guard hosts.timers.takeFired(timer, number) else { return }
    perform(hosts.clearing.fired(timer))
  }

  /// Whether a user is signed in, or the session of one has expired.
  var hasUser: Bool { coordinator.state.kind != .unauthenticated }

  /// Whether a host clears its data, or is about to.
  var isClearing: Bool { hosts.clearing.isCalling }

  /// Whether data or changes that should be cleared are still there.
  var needsDataClearing: Bool { hosts.clearing.isNeeded }

  /// Returns when the hosts have cleared their data, so that no user signs in to data that is being
  /// removed.
  ///
  /// - Throws: `clearingLocalData` if clearing takes longer than its limit.
  /// - Throws: `cancelled` at once, if the task is cancelled.
  /// - Throws: `closed` if the session is closed.
  func awaitDataClearing() async throws(SessionError) {
    guard isClearing else { return }
    let number = hosts.waiters.nextNumber()
    let problem = await withTaskCancellationHandler {
      await withCheckedContinuation { beginWait(number, $0) }
    } onCancel: {
      spawn { $0.hosts.waiters.end(number, with: .cancelled) }
    }
    if let problem { throw problem }
  }

  /// Begins a wait.
  ///
  /// It checks every condition again, because other calls may have run in between.
  private func beginWait(
    _ number: UInt64, _ continuation: CheckedContinuation<SessionError?, Never>
  ) {
    hosts.waiters.begin(number, continuation)
    if let answer = hosts.clearing.answer {
      hosts.waiters.end(number, with: answer.error)
    } else if Task.isCancelled {
      hosts.waiters.end(number, with: .cancelled)
    }
  }
}

extension DataClearing.Answer {
  /// The error that a waiting caller receives; `nil` if it continues.
  fileprivate var error: SessionError? {
    switch self {
    case .ended: nil
    case .overdue: .clearingLocalData
    case .closed: .closed
    }
  }
}

extension EndedSession {
  fileprivate init(_ logout: DataClearing.Logout, in journal: Identifier) {
    self.init(
      reason: logout.reason, user: logout.user, journal: journal, generation: logout.generation,
      hasLaterLogin: logout.hasLaterLogin)
  }
}

extension JournalIdentifier {
  /// The journal's identifier in the form that the hosts receive.
  var asIdentifier: Identifier { Identifier(uuidHigh: high, low: low) }
}
