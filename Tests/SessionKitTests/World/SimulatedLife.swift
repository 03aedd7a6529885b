import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

/// A session that is used, badly treated, and looked at afterwards; everything by draws.
final class SimulatedLife: Sendable {
  enum Command: String, CaseIterable, Sendable {
    case login, refresh, refreshIfNeeded, switchContext, logout, cancelled
  }

  /// What was found wrong, or nothing.
  struct Findings: Sendable {
    var problems: [String] = []
    var log: [String] = []
    var journal: [SessionRecord] = []
    var journalBytes: [UInt8] = []
  }

  let choices: Choices
  let world: SimulatedWorld
  let store = MemorySecretStore()
  let path = "session.journal"
  private let disk = Mutex(SimulatedDisk())
  private let session = Mutex<Session?>(nil)
  private let findings = Mutex(Findings())
  private let known = Mutex(Known())

  /// What callers were told of who is signed in.
  private struct Known {
    var isSignedIn = false
    /// Sign-ins and logouts that nobody was told the end of.
    var open = 0
    /// How many there were, and whether the last that ended was the last that began.
    var count = 0
    var isSure = true
  }

  /// What besides the weather happens to the session.
  enum Fate {
    /// Nothing.
    case alone
    /// Another process opens it now and then; the one before goes on.
    case others
    /// The power fails now and then: unsynced sectors are kept, lost or torn.
    case powerCuts
  }

  init(_ choices: Choices, rotates: Bool) {
    self.choices = choices
    world = SimulatedWorld(choices)
    world.server.settings.rotatesRefreshTokens = rotates
    // A grace without end: what is lost on the way is never the session's fault.
    world.server.settings.rotationGrace = .seconds(1_000_000)
  }

  /// Lives the life and returns what was found wrong with it.
  func live(commands: Int, policy: SessionPolicy, fate: Fate = .alone) throws -> Findings {
    var process = try open(policy)
    world.run(for: 1_000)
    world.server.weather = .rough
    for _ in 0..<commands {
      issue(choices.pick(Command.allCases) ?? .login)
      check(world.run(for: Int64(choices.draw(in: 0...2_000))) != .restless, "it goes in circles")
      guard fate != .alone, choices.chance(1, in: 10) else { continue }
      // Whoever waited for the object before waits no longer for this one; the world goes on.
      session.withLock { $0 = nil }
      if fate == .powerCuts {
        note("power cut")
        process.kill()
        disk.withLock { $0 = $0.crash(choices) }
      } else {
        note("another process")
      }
      process = try open(policy)
      if fate == .powerCuts { checkReopened() }
    }
    settle()
    return findings.withLock { $0 }
  }

  // MARK: What happens

  private func open(_ policy: SessionPolicy) throws -> SimulatedProcess {
    let process = disk.withLock { $0.process() }
    let configuration = try world.configuration(
      journal: path, in: process, secrets: store, policy: policy)
    world.spawn { [self] in
      do throws(SessionError) {
        let opened = try await Session.open(configuration)
        session.withLock { $0 = opened }
      } catch {
        check(false, "it could not be opened: \(error)")
      }
    }
    world.run(for: 0)
    return process
  }

  /// What was acknowledged before the power failed is so afterwards.
  private func checkReopened() {
    let known = known.withLock { known in
      defer {
        // Whose end nobody was told of may show later.
        known.isSure = known.isSure && known.open == 0
        known.open = 0
      }
      return known
    }
    guard known.open == 0, known.isSure, let session = session.withLock({ $0 }) else { return }
    check(
      (session.state.kind == .authenticated) == known.isSignedIn,
      "it is \(session.state.kind) after a power cut, and a caller was told otherwise")
  }

  private func issue(_ command: Command) {
    guard let session = session.withLock({ $0 }) else { return }
    note("\(command)")
    let decides = command == .login || command == .logout
    let number = known.withLock { known in
      known.open += decides ? 1 : 0
      known.count += decides ? 1 : 0
      return known.count
    }
    let task = world.spawn { [self] in
      do throws(SessionError) {
        switch command {
        case .login: try await session.login(credentials)
        case .refresh, .cancelled: try await session.refresh()
        case .refreshIfNeeded: try await session.refreshIfNeeded()
        case .switchContext: try await session.switchContext(to: coordinator)
        case .logout: try await session.logout()
        }
        note("  \(command) done")
        if decides {
          known.withLock { known in
            known.open -= 1
            known.isSignedIn = command == .login
            known.isSure = known.count == number
          }
        }
      } catch {
        if decides, error.leavesNoDoubt { known.withLock { $0.open -= 1 } }
        note("  \(command): \(error)")
      }
    }
    if command == .cancelled { task.cancel() }
  }

  // MARK: What must hold

  /// The weather clears, everybody gets an answer, and what is there is looked at.
  private func settle() {
    world.server.weather = .clear
    check(world.run(for: 600_000) != .restless, "it goes in circles")
    check(world.unfinished == 0, "\(world.unfinished) callers still wait")
    check(world.server.mostTokenRequestsAtOnce <= 1, "two requests for a token at once")
    guard let session = session.withLock({ $0 }) else {
      return check(false, "there is no session")
    }
    checkState(session)
    world.spawn { [self] in await use(session) }
    check(world.run(for: 600_000) != .restless, "it goes in circles")
    check(world.unfinished == 0, "\(world.unfinished) callers wait at the end")
    world.spawn {
      do { try await session.close() } catch { self.check(false, "closing: \(error)") }
    }
    world.run(for: 60_000)
    checkJournal(session.state)
  }

  private func checkState(_ session: Session) {
    if case .authenticated(let authenticated) = session.state {
      check(
        session.currentToken?.generation == authenticated.token.generation,
        "the token held is not the state's")
    } else {
      check(session.currentToken == nil, "a token is held while \(session.state.kind)")
    }
    // Another process may have appended what this one has not seen yet: the file decides.
    switch foldOfFile().state {
    case .authenticated:
      check(store.items.isSuperset(of: [.token, .user]), "items are missing: \(store.items)")
    case .expired:
      check(!store.items.contains(.token), "a token is stored while expired")
    case .unauthenticated:
      // What the server could not be told of waits for the next open.
      check(
        store.items.isSubset(of: [.revocation]), "items are stored while signed out: \(store.items)"
      )
    }
  }

  /// Once the weather is clear, whoever is signed in can refresh: no token was lost on the way.
  private func use(_ session: Session) async {
    guard session.isAuthenticated else { return }
    do throws(SessionError) {
      try await session.refresh()
    } catch {
      check(false, "the last token does not refresh: \(error)")
    }
  }

  private func foldOfFile() -> SessionFold {
    findings.withLock { $0.journal = [] }
    var fold = SessionFold()
    do {
      var reader = try JournalReader(path: path, on: disk.withLock { $0 })
      while let raw = try reader.next() {
        let record = try SessionCodec.decode(
          sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
        findings.withLock { $0.journal.append(record) }
        try fold.apply(record)
      }
    } catch {
      check(false, "the journal: \(error)")
    }
    return fold
  }

  private func checkJournal(_ state: SessionState) {
    check(foldOfFile().state == state, "the state shown is not the journal's fold")
    let bytes = disk.withLock { $0.contents(of: path) } ?? []
    let text = String(decoding: bytes, as: UTF8.self)
    for secret in world.server.secrets where secret.utf8.count >= 6 {
      check(!text.contains(secret), "a secret is in the journal")
    }
    checkEnds()
  }

  /// Each end has exactly one cause, and nothing that ended a session is for want of a network.
  private func checkEnds() {
    let records = findings.withLock { $0.journal }
    var failures: [UInt64: RequestFailure] = [:]
    var last: SessionEvent?
    for record in records {
      guard let event = record.event else { continue }
      if case .refreshFailed(let failed) = event { failures[record.sequence] = failed.failure }
      if case .sessionExpired(let expiry) = event, expiry.reason == .refreshRejected {
        guard case .refreshFailed(let failed) = last, failed.failure.kind.isFinal else {
          check(false, "an expiry without its cause at \(record.sequence)")
          continue
        }
      }
      last = event
    }
  }

  // MARK: Tools

  private var credentials: PasswordCredentials {
    PasswordCredentials(
      userName: LoopbackUser.sample.email, password: Secret(LoopbackUser.sample.password))
  }

  private var coordinator: ContextTarget {
    let context = LoopbackContext.coordinator
    return ContextTarget(
      role: Identifier(context.roleID), school: Identifier(context.schoolID), unit: nil)
  }

  private func note(_ text: String) {
    findings.withLock { $0.log.append("\(world.clock.now().uptime): \(text)") }
  }

  private func check(_ holds: Bool, _ problem: @autoclosure () -> String) {
    guard !holds else { return }
    let problem = problem()
    findings.withLock { $0.problems.append(problem) }
  }
}

extension SessionError {
  /// Whether nothing changed that could show later.
  fileprivate var leavesNoDoubt: Bool {
    switch self {
    case .alreadySignedIn, .signInUnderWay, .otherUsersSession, .notSignedIn: true
    default: false
    }
  }
}
