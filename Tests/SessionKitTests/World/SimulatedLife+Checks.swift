@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

/// The invariants of a simulated life.
extension SimulatedLife {
  /// A result that was acknowledged before a power failure still holds after it.
  func checkReopened() {
    let before = known.withLock { $0 }
    guard keychain.items.isAvailable, let session = homes.withLock({ $0.first })?.current else {
      return known.withLock { known in
        (known.open, known.isSure) = (0, false)
      }
    }
    let isSignedIn = session.state.kind == .authenticated
    if before.open == 0, before.isSure {
      check(
        isSignedIn == before.isSignedIn,
        "it is \(session.state.kind) after a power cut, and a caller was told otherwise")
    }
    known.withLock { known in
      (known.open, known.isSure, known.isSignedIn) = (0, true, isSignedIn)
    }
  }

  /// A process never holds a token without a session.
  func checkHeld() {
    for home in homes.withLock({ $0 }) {
      guard home.isAlive, let session = home.current else { continue }
      check(
        session.isAuthenticated || session.currentToken == nil,
        "a token is held while \(session.state.kind)")
    }
  }

  /// Ends all faults, waits until every caller has an answer, and checks the result.
  func settle() throws {
    world.server.weather = .clear
    keychain.blow(after: nil)
    disk.withLock { $0.stopFaults() }
    keychain.items.isAvailable = true
    for home in homes.withLock({ $0 }) { home.diesWithToken.withLock { $0 = false } }
    run(for: 600_000)
    homes.withLock { $0.removeAll { !$0.isAlive } }
    // A wipe that a locked store prevented happens at the next open.
    try open()
    run(for: 60_000)
    let homes = homes.withLock { $0 }
    for home in homes {
      check(home.waiting.withLock { $0 } == 0, "callers still wait in \(home.number)")
    }
    check(world.server.mostTokenRequestsAtOnce <= 1, "two requests for a token at once")
    checkHeld()
    checkItems()
    for home in homes { use(home) }
    checkItems()
    checkJournal(homes.last?.current?.state)
    checkSecrets()
    check(world.escapes.isEmpty, "something has escaped: \(world.escapes)")
  }

  private func checkItems() {
    let items = ownItems
    let names = items.map { "\($0)" }.sorted().joined(separator: ", ")
    switch foldOfFile().state {
    case .authenticated:
      check(items.isSuperset(of: [.token, .user]), "items are missing, there are: \(names)")
    case .expired:
      check(!items.contains(.token), "a token is stored while expired")
    case .unauthenticated:
      // A pending revocation is stored for the next open.
      check(items.isSubset(of: [.revocation]), "items are stored while signed out: \(names)")
    }
  }

  /// Without faults, a logged-in user can refresh twice, so no token was lost in transit.
  private func use(_ home: SimulatedHome) {
    guard let session = home.current else { return check(false, "there is no session") }
    readAll(of: session)
    let state = foldOfFile().state
    // A process that has not seen the newest login says nothing about its session.
    let isSignedIn = isSameSession(session.state, state)
    if session.state == state {
      check(
        session.currentToken?.generation == state.token?.generation,
        "the token held is not the state's")
    }
    world.spawn("refresh twice in \(home.number)") { [self] in
      do throws(SessionError) {
        for _ in 0..<2 { try await session.refresh() }
        check(state.kind == .authenticated, "a refresh while \(state.kind)")
      } catch {
        check(!isSignedIn, "the last token does not refresh: \(error)")
      }
    }
    run(for: 600_000)
    check(world.server.mostTokenRequestsAtOnce <= 1, "two requests for a token at once")
    world.spawn("close \(home.number)") { [self] in
      do throws(SessionError) {
        try await session.close()
      } catch {
        check(false, "closing: \(error)")
      }
      home.waiting.withLock { $0 = -1 }
    }
    run(for: 60_000)
    check(home.waiting.withLock { $0 } == -1, "\(home.number) does not close")
  }

  private func isSameSession(_ shown: SessionState, _ state: SessionState) -> Bool {
    guard case .authenticated(let mine) = shown, case .authenticated(let journaled) = state else {
      return false
    }
    return mine.since == journaled.since && mine.user == journaled.user
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

  private func checkJournal(_ state: SessionState?) {
    check(foldOfFile().state == state, "the state shown is not the journal's fold")
    checkEnds()
  }

  /// Each end has exactly one cause, and no session ends because the network was missing.
  private func checkEnds() {
    let records = findings.withLock { $0.journal }
    var last: SessionEvent?
    for record in records {
      guard let event = record.event else { continue }
      if case .sessionExpired(let expiry) = event {
        check(expiry.reason == .refreshRejected, "expired for \(expiry.reason)")
        check(!hardships.isStrict, "a refresh token was sent twice")
        guard case .refreshFailed(let failed) = last, failed.failure.kind.isFinal else {
          check(false, "an expiry without its cause at \(record.sequence)")
          continue
        }
      }
      last = event
    }
  }

  // MARK: Secrets

  /// Everything that a person or a log could see of a session.
  private func readAll(of session: Session) {
    let values: [Any?] = [
      session, session.state, session.activity, session.currentToken, session.currentUser,
      session.activeContext, session.currentUserRole,
    ]
    for case let value? in values {
      read(String(describing: value))
      read(String(reflecting: value))
      var text = ""
      dump(value, to: &text)
      read(text)
    }
  }

  /// Tokens, passwords and e-mail addresses are only in the keychain (STO-3).
  private func checkSecrets() {
    let (disk, findings) = (disk.withLock { $0 }, findings.withLock { $0 })
    var texts = findings.texts.union(choices.steps.map(\.text))
    texts.formUnion(findings.journal.map { "\($0)" })
    texts.formUnion(world.failures)
    for file in disk.paths {
      texts.insert(String(decoding: disk.contents(of: file) ?? [], as: UTF8.self))
    }
    let all = texts.joined(separator: "\n")
    for secret in world.server.secrets where secret.utf8.count >= 6 {
      check(!all.contains(secret), "a secret is in the journal or in a text")
    }
  }
}
