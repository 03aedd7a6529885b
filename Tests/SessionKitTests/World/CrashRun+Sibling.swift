@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit

extension CrashRun {
  /// What a process found that was open while the other one died.
  struct SiblingEvidence {
    var problems: [String] = []
    var counts = CrashCounts()
    var hasDied = false
    /// Whether the server had issued a token that never reached the disk, so that no process can
    /// have it.
    var isLost = false
    /// Whether the process found a token that was stored but not journaled.
    var isRecovered = false
  }

  /// Lives the story while a second process has the session open.
  ///
  /// The server accepts a refresh token only once, and ends the session if a token comes again.
  /// Returns what the second process finds afterwards.
  func liveBesideSibling() throws -> SiblingEvidence {
    defer { world.finish() }
    world.server.settings.rotatesRefreshTokens = true
    world.server.settings.reuseEndsSession = true
    let disk = SimulatedDisk()
    _ = try begin(disk)
    let sibling = try open(disk)
    var evidence = SiblingEvidence()
    (evidence.counts, evidence.hasDied) = try tell(
      "the story", on: disk, dyingAt: point, Told(), story.act)
    // The requests of the dead process have timed out.
    world.clock.advance(by: .seconds(5))

    let problems = Problems()
    let (journaled, stored) = (try fold(disk), try storedToken()?.generation ?? 0)
    let isIn = journaled.state.kind == .authenticated
    let newest = max(stored, journaled.generation.number)
    // In a story with a refusal, only the first token can be refused.
    let isRefused = story.isRefused && newest == 1
    evidence.isLost = isIn && issued > newest && !story.isRefused && !story.leavesFormerToken
    evidence.isRecovered = isIn && !story.leavesFormerToken && stored > journaled.generation.number
    let asked = world.server.count(of: .refresh)
    var told = refresh(sibling)
    // A caller that asked in a session that another process ended gets that error, even if a new
    // session has begun.
    if isIn, told?.isLoggedOut == true { told = refresh(sibling) }
    if !isIn {
      problems.check(
        told != nil && !sibling.isAuthenticated, "signed in again, \(sibling.state.kind)")
      problems.check(world.server.count(of: .refresh) == asked, "it refreshed what had ended")
    } else if evidence.isLost || isRefused {
      // The process may have known an older token than the journal's, so it first takes over the
      // newer one.
      if told == nil { told = refresh(sibling) }
      // A refusal proves nothing while the dead process may only be suspended.
      if sibling.isAuthenticated {
        world.clock.advance(by: .milliseconds(PolicyFigures(story.policy).peerRequestGrace))
        told = refresh(sibling)
      }
      problems.check(told != nil && !sibling.isAuthenticated, "it has a token that nobody gave")
    } else {
      problems.check(told == nil && sibling.isAuthenticated, "\(String(describing: told))")
      if evidence.isRecovered {
        problems.check(
          sibling.currentToken?.generation.number == stored
            && world.server.count(of: .refresh) == asked, "the stored token is not the one it has")
      }
      problems.check(refresh(sibling) == nil, "its token is not the server's")
    }
    try judgeAfterwards(disk, sibling, problems)
    evidence.problems = problems.all
    return evidence
  }

  /// How many tokens the server has issued.
  private var issued: UInt64 {
    let endpoints: [LoopbackEndpoint] = [.login, .refresh, .switchContext]
    return UInt64(endpoints.map { world.server.count(of: $0) }.reduce(0, +))
  }

  private func refresh(_ session: Session) -> SessionError? {
    do {
      return try world.run {
        do throws(SessionError) {
          try await session.refresh()
          return nil
        } catch {
          return error
        }
      }
    } catch {
      return .closed
    }
  }

  /// A third process finds what the second one left, and no revocation is pending.
  private func judgeAfterwards(
    _ disk: SimulatedDisk, _ sibling: Session, _ problems: Problems
  ) throws {
    world.run(for: .seconds(30))
    let shown = sibling.state.kind
    try world.run { try await sibling.close() }
    let third = try open(disk)
    world.run(for: .seconds(30))
    // A login that was stored and not journaled is announced by the next process that opens the
    // session.
    let isLateLogin = shown != .authenticated && third.state.token != nil
    problems.check(
      third.state.kind == shown || isLateLogin && story.legal.contains(third.state.kind),
      "it was \(shown), and is \(third.state.kind)")
    if third.isAuthenticated {
      problems.check(refresh(third) == nil, "the token that was left is not the server's")
    }
    let (settled, items) = (try fold(disk), secrets.items.items)
    problems.check(
      third.isAuthenticated == items.contains(.token), "\(items) while \(third.state.kind)")
    problems.check(settled.intents.revocations.isEmpty, "a revocation is pending")
    if try hasLoggedOut(disk) {
      problems.check(world.server.count(of: .logout) > 0, "the server was never told")
    }
    try world.run { try await third.close() }
  }
}
