@_spi(Internals) package import SessionCore
import SessionTestKit

extension Choices {
  /// Draws a move that is possible now; a caller's plain refresh is the simplest.
  package func move(of run: CoordinatorRun) -> CoordinatorMove {
    span {
      let requests = run.wire.outstanding
      switch draw(below: 16) {
      case 0, 1: return .ask(question())
      case 2, 3, 4, 5:
        guard let request = pick(requests) else { return .ask(question()) }
        return reply(to: request, run)
      case 6, 7:
        guard let timer = pick(run.reachableTimers) else {
          return .pass(delay())
        }
        return .fire(timer)
      case 8: return .pass(delay())
      case 9: return .jump(jump())
      case 10:
        return .breakCommits(
          draw(in: 1...3), afterStoring: chance(1, in: 2), forGood: chance(1, in: 6))
      case 11, 12: return .foreign(foreign(run))
      case 13:
        guard let caller = pick(run.callers.waiting.map(\.caller)) else { return .clearError }
        return .cancel(caller)
      case 14: return oddMove(run)
      default:
        guard let generation = run.revoking.first else { return .askDuringCommit(question()) }
        return .revoked(generation, pick([.revoked, .failed]) ?? .revoked)
      }
    }
  }

  private func oddMove(_ run: CoordinatorRun) -> CoordinatorMove {
    let over = run.wire.requests.filter { $0.fate != .sent }.map(\.number)
    switch draw(below: 17) {
    case 10: return .callNeedsUser
    case 11, 12: return .ask(.lock)
    case 13...16:
      guard let check = pick(run.checks) else { return .ask(.beginUnlock) }
      return chance(1, in: 2) ? .checkFailed(check) : .ask(.checkPassed(check))
    case 7: return .use
    case 8: return .profile(chance(1, in: 2) ? standing() : nil)
    case 9: return .fire(.inactivity)
    case 0: return .restart(isHolderGone: chance(1, in: 2))
    case 1: return .breakWipe
    case 2: return .lock(!run.disk.items.facts.isLocked)
    case 3:
      return .damage(
        pick([.token, .user, .context]) ?? .token,
        pick([.absent, .unreadable, .otherJournal]) ?? .absent)
    case 4:
      let stored = run.disk.items.facts.generation.number
      return .rollBack(Generation(stored - min(stored, 1)))
    default: return pick(over).map { .again($0) } ?? .clearError
    }
  }

  private func question() -> CoordinatorMove.Question {
    switch draw(below: 14) {
    case 0...4: .refresh(pick([.manual, .unauthorized]) ?? .manual, need())
    case 5...7: .login(method())
    case 8: .switchContext
    case 9: pick([.switchContext, .foreground, .unlock]) ?? .switchContext
    case 10: .logout
    case 11, 12: .reauthenticate(method())
    default: chance(1, in: 4) ? .close : .logout
    }
  }

  private func method() -> LoginMethod {
    pick([.password, .social, .registration, .adoption, .interactive, .silent]) ?? .password
  }

  private func need() -> RefreshNeed {
    switch draw(below: 6) {
    case 0...2: .always
    case 3, 4: .ifExpired
    default: .unlessNewer(than: Generation(draw(below: 4)))
    }
  }

  private func reply(to request: CoordinatorWire.Request, _ run: CoordinatorRun)
    -> CoordinatorMove
  {
    guard chance(1, in: 3) else {
      let method = run.callers.method(of: request)
      let isByProvider = method == .interactive || method == .silent
      if method == .registration, chance(1, in: 2) { return .created(request.number) }
      if isByProvider, chance(1, in: 2) { return .leave(request.number, problem()) }
      var facts = answer(run)
      if isByProvider {
        facts.method = method == .silent || chance(1, in: 2) ? .silent : .interactive
        facts.isRenewedByProvider = chance(1, in: 2)
      }
      return .answer(request.number, facts)
    }
    return .fail(request.number, plainFailure(), jitter: UInt16(draw(below: 65_536)))
  }

  private func answer(_ run: CoordinatorRun) -> ResponseMetadata {
    var facts = ResponseMetadata(
      lifetime: pick([3_600_000, 120_000, 1_000, 1, 0, .max]) ?? 3_600_000,
      hasRefreshToken: !chance(1, in: 6),
      user: chance(1, in: 8) ? nil : pick([run.coordinator.state.user ?? "ada", "ada", "bob"]),
      context: chance(1, in: 2) ? pick([.plainTeacher, .plainPrincipal]) : nil)
    if chance(1, in: 8) { facts.profileFailure = standing() }
    return facts
  }

  /// Draws how a web sign-in fails.
  private func problem() -> WebSignInProblem {
    pick([
      .cancelledByUser, .forgottenPassword, .noAccount, .refused(nil), .unreachable, .viewFailed,
      .unreadableTokens, .cancelled, .requestFailed(plainFailure(), detail: nil),
      .noRedirect(within: .seconds(600)),
    ]) ?? .refused(nil)
  }

  /// Draws a server's statement that the user is not accepted, or a failure that says nothing of
  /// the user.
  private func standing() -> RequestFailure {
    RequestFailure(kind: pick([.userInactive, .userDeleted, .noConnection, .rejected]) ?? .server)
  }

  /// Draws failures as servers and networks cause them; most are temporary.
  package func plainFailure() -> RequestFailure {
    let kinds: [RequestFailure.Kind] = [
      .noConnection, .noReply, .server, .rejected, .rateLimited, .unreadable, .userInactive,
      .userDeleted, .unexpected, .noRefreshToken, .secretsUnavailable,
      .intercepted, .userNeeded,
    ]
    return RequestFailure(
      kind: pick(kinds) ?? .noConnection,
      retryAfter: chance(1, in: 6) ? .milliseconds(delay()) : nil)
  }

  private func foreign(_ run: CoordinatorRun) -> CoordinatorMove.Foreign {
    let lifetime: Int64 = pick([3_600_000, 120_000, 0]) ?? 3_600_000
    switch draw(below: 14) {
    case 13: return .diesLoggingOut
    case 12: return .diesWithToken(lifetime: lifetime)
    case 0, 1: return .rotates(lifetime: lifetime)
    case 2, 3: return .sends(deadlineIn: pick([20_000, 0, -5_000, 1 << 40]) ?? 20_000)
    case 4: return .notes(pick([.closed, .locked(.user), .unlocked]) ?? .closed)
    case 5: return .fails(pick([.noReply, .server, .noConnection]) ?? .noReply)
    case 6: return .switches
    case 7: return .expires(pick([.refreshRejected, .inactivity]) ?? .inactivity)
    case 8: return .logsOut
    case 9, 10: return .logsIn(pick(["ada", "bob"]) ?? "ada", lifetime: lifetime)
    default: return .writes(unknown(isIgnorable: !chance(1, in: 8)))
    }
  }

  private func delay() -> Int64 {
    pick([1, 1_000, 30_000, 600_000, 3_600_000, 86_400_000]) ?? 1
  }

  private func jump() -> Int64 {
    pick([3_600_000, -3_600_000, 1 << 40, -(1 << 40), 1, .max, .min]) ?? 0
  }

  /// Draws a policy that may also limit inactivity and lifetime, and may ask for the profile at
  /// launch.
  func usedPolicy() -> SessionPolicy {
    var policy = policy()
    if chance(1, in: 3) {
      policy.ending.inactivityLimit = pick([.seconds(1), .seconds(1_800), .seconds(86_400)])
    }
    if chance(1, in: 2) { policy.limits.profileCheck = .afterLoginAndLaunch }
    if chance(1, in: 4) {
      policy.lock = SessionPolicy.Lock(
        afterUnused: chance(1, in: 2) ? .seconds(600) : nil, atLaunch: chance(1, in: 2),
        allowsRefresh: chance(1, in: 2))
    }
    if chance(1, in: 4) { policy.ending.absoluteLifetime = pick([.seconds(1), .seconds(7_200)]) }
    return policy
  }

  /// Draws a preset, or a policy with extreme values.
  package func policy() -> SessionPolicy {
    var policies: [SessionPolicy] = [
      .bench, .benchKeeping, .development, .staging, .production, .edu(),
    ]
    let strict = SessionPolicy.bench.named("bench, one attempt") {
      ($0.refresh.attempts, $0.refresh.atLaunch) = (1, .always)
      $0.ending.onExhaustion = .end(.clear)
    }
    let hasty = SessionPolicy.bench.named("bench, without delays") {
      ($0.refresh.firstRetryDelay, $0.refresh.longestRetryDelay) = (.zero, .zero)
      $0.refresh.beforeExpiry = .milliseconds(Int64.max)
    }
    let patient = strict.named("bench, after a need") {
      $0.refresh.beforeExpiry = nil
      $0.ending.onExhaustion = .endAfterExpiry(.clear)
    }
    policies += [strict, hasty, patient]
    return pick(policies) ?? .bench
  }
}
