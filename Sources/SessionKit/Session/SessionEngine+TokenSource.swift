import Foundation
import SessionCore
import Synchronization

/// Identity providers: a sign-in's steps as its request, and, where the provider owns the tokens, refresh
/// and logout as its calls (WEB-6).
extension SessionEngine {
  /// Runs a sign-in with a provider, which is what the login of this number asks.
  func signIn(_ number: RequestNumber, _ caller: Caller, _ flow: WebSignInFlow) {
    let before = pagesBefore
    self.flow = flow
    // Whoever comes next waits for all who came before, also for those whose successor has given up.
    pagesBefore = runtime.spawn {
      await before?.value
      await flow.left()
    }
    requests[number] = spawn { engine in
      // A view may still be on its way out, and so may the account of whoever left.
      await before?.value
      await engine.removal?.value
      if let failed = await engine.untilClear(for: caller) {
        flow.cancel()
        if engine.flow === flow { engine.flow = nil }
        return engine.received(number, .failure(failed))
      }
      let ending = await flow.run(engine.host(of: flow))
      // The app's view goes with it.
      if engine.flow === flow { engine.flow = nil }
      switch ending {
      case .signedIn(var answer, let method):
        answer.method = method
        await engine.landed(number, answer)
      case .failed(let problem):
        engine.requests[number] = nil
        engine.feed(.notSignedIn(number, problem))
      }
    }
  }

  /// What a sign-in is told of the session, as it is when its turn comes.
  private func host(of flow: WebSignInFlow) -> WebSignInFlow.Host {
    let configuration = configuration
    var (prompt, account): (WebSignIn.Prompt, Identifier?) = (flow.prompt, nil)
    if case .expired(let expired) = coordinator.state {
      account = expired.user
      // Whoever left the device unused has to show who they are (POL-5).
      if expired.reason == .inactivity { prompt = .always }
    }
    return WebSignInFlow.Host(
      prompt: prompt, account: account, requestTimeout: configuration.policy.requestTimeout,
      isUnwelcome: { [weak self] user in await self?.isUnwelcome(user) ?? true },
      map: { (tokens) throws(WebSignInProblem) in
        try tokens.answer(
          for: configuration.wire, isOwned: configuration.identityProvider != nil,
          at: configuration.clock.now().time)
      },
      giveBack: { [weak self] tokens in self?.giveBack(tokens) },
      wait: { limit in
        let end = configuration.clock.now().uptime.addingSaturating(limit)
        do { try await configuration.clock.sleep(untilUptime: end) } catch { return false }
        return true
      },
      spawn: runtime.spawn)
  }

  /// Whether tokens of this user, whom nobody asked, are not to sign in: an expired session is another's, or
  /// the user has logged out and the provider could not be told of it yet.
  private func isUnwelcome(_ user: Identifier) -> Bool {
    if case .expired(let expired) = coordinator.state, expired.user != user { return true }
    return owed.contains(user)
  }

  func handIn(_ redirect: URL) async -> Bool {
    await flow?.handIn(redirect) ?? false
  }

  /// Asks the provider that owns the tokens for newer ones: that is the refresh.
  func renew(_ number: RequestNumber, with provider: any IdentityProvider) {
    let (configuration, user) = (configuration, expectedUser)
    let lifetime = coordinator.state.token?.lifetime
    let before = user.map {
      IdentityPredecessor(user: $0, access: token?.access, lifetime: lifetime)
    }
    requests[number] = spawn { engine in
      guard engine.mayLeave(number) else { return }
      let ending = await engine.bounded(by: configuration.policy.requestTimeout) {
        try await provider.acquireSilently(user?.id)
      }
      switch ending {
      case .success(let tokens):
        do throws(WebSignInProblem) {
          var answer = try tokens.answer(
            for: configuration.wire, after: before, isOwned: true,
            at: configuration.clock.now().time)
          // No user signed in for it: nobody's account goes where it is not wanted.
          answer.method = .silent
          engine.received(number, .success(answer))
        } catch {
          engine.received(number, .failure(Failed(error)))
        }
      case .failure(let error):
        engine.received(
          number, .failure(error.map { Failed($0.problem) } ?? Failed.noReplyInTime))
      }
    }
  }

  /// Has the provider that owns the tokens forget the account: that is the logout at the server.
  func remove(
    _ user: Identifier?, of generation: Generation, from provider: any IdentityProvider
  ) {
    // Whoever has signed in again as the same user needs the account.
    guard let user, coordinator.state.user != user else {
      return feed(.revoked(generation, .abandoned, status: 0))
    }
    // Nor does it go under whoever is about to: that may be the same user.
    guard !coordinator.isSigningIn else { return feed(.revoked(generation, .failed, status: 0)) }
    let limit = configuration.policy.revocationTimeout
    removal = spawn { engine in
      let ending = await engine.bounded(by: limit) { try await provider.removeAccount(user) }
      switch ending {
      case .success: engine.feed(.revoked(generation, .revoked, status: 0))
      case .failure: engine.feed(.revoked(generation, .failed, status: 0))
      }
    }
  }

  /// Gives back what a user's sign-in brought and nobody wants.
  nonisolated func giveBack(_ tokens: IdentityTokens) {
    spawn { engine in
      do throws(WebSignInProblem) {
        engine.giveBack(
          try tokens.answer(
            for: engine.configuration.wire, isOwned: engine.configuration.identityProvider != nil,
            at: engine.configuration.clock.now().time))
      } catch {
        // What is no token is nothing that a server could take back.
      }
    }
  }

  /// The same of an answer.
  func giveBack(_ answer: TokenAnswer) {
    // What was there before this session asked for it is not this session's to end.
    guard answer.method != .silent else { return }
    forget(answer.user?.id)
    giveBack(answer.access, answer.refresh)
  }

  /// Has the provider that owns the tokens forget an account, unless it is the session's own.
  func forget(_ user: Identifier?) {
    guard let provider = configuration.identityProvider, let user, coordinator.state.user != user
    else { return }
    let limit = configuration.policy.revocationTimeout
    spawn { engine in
      _ = await engine.bounded(by: limit) { try await provider.removeAccount(user) }
    }
  }

  /// An error of the app's SDK, by what it says.
  struct Said: Sendable {
    let problem: WebSignInProblem?
  }

  /// What a call of the app's SDK brings, within so many milliseconds.
  ///
  /// `.failure(nil)` where it does not end in time: it is cancelled then, and not waited for.
  private func bounded<Value: Sendable>(
    by limit: Int64, _ work: @escaping @Sendable () async throws -> Value
  ) async -> Ending<Value> {
    let clock = configuration.clock
    let end = clock.now().uptime.addingSaturating(limit)
    let race = Race<Ending<Value>>()
    let task = runtime.spawn {
      do { race.end(.success(try await work())) } catch {
        race.end(.failure(Said(problem: IdentityError.problem(in: error))))
      }
    }
    let timer = runtime.spawn {
      do { try await clock.sleep(untilUptime: end) } catch { return }
      race.end(.failure(nil))
    }
    defer {
      task.cancel()
      timer.cancel()
    }
    return await race.first()
  }

  private enum Ending<Value: Sendable>: Sendable {
    case success(Value)
    case failure(Said?)
  }
}

/// The first of several ends.
private final class Race<Ending: Sendable>: Sendable {
  private struct State {
    var ending: Ending?
    var waiter: CheckedContinuation<Ending, Never>?
  }

  private let state = Mutex(State())

  func end(_ ending: Ending) {
    let waiter = state.withLock { state -> CheckedContinuation<Ending, Never>? in
      guard state.ending == nil else { return nil }
      state.ending = ending
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: ending)
  }

  func first() async -> Ending {
    await withCheckedContinuation { continuation in
      let ending = state.withLock { state in
        if state.ending == nil { state.waiter = continuation }
        return state.ending
      }
      if let ending { continuation.resume(returning: ending) }
    }
  }
}

extension SessionEngine.Failed {
  fileprivate static let noReplyInTime = SessionEngine.Failed(
    failure: RequestFailure(kind: .noReply), detail: "the identity provider did not answer in time")

  /// How a refresh failed that a provider makes; what it says is told by name and code only.
  fileprivate init(_ problem: WebSignInProblem?) {
    let kind: RequestFailure.Kind
    var code: IdentityCode?
    switch problem {
    case .noAccount: kind = .rejected
    case .refused(let refusal):
      code = refusal
      kind = Self.final.contains(refusal?.description ?? "") ? .rejected : .unexpected
    case .unreachable: kind = .noConnection
    case .unreadableTokens: kind = .unreadable
    case .cancelledByUser, .forgottenPassword, .viewFailed, .cancelled, nil: kind = .noReply
    }
    self.init(
      failure: RequestFailure(kind: kind, serverCode: code?.description),
      detail: "the identity provider: \(problem.map { "\($0)" } ?? "it said nothing that is known")"
    )
  }

  /// Codes of a grant that is dead: `AADB2C90080` is B2C's of one that has expired, `AADB2C90129` of one
  /// that was revoked.
  private static let final: Set<String> = [
    "invalid_grant", "consent_required", "account_selection_required", "interaction_required",
    "login_required", "AADB2C90080", "AADB2C90129",
  ]
}
