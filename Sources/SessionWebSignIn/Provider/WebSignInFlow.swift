import Foundation
import SessionCore
import SessionKit

/// Performs the effects of ``WebSignIn``, with one provider and one view.
///
/// It decides nothing. It passes inputs under one lock, and begins the effects before it releases
/// the lock. So nothing begins after an outcome was reported.
final class WebSignInFlow: ExternalLogin {
  /// The outcome, with the tokens.
  typealias Ending = ExternalLoginEnding
  /// The values and functions of the session.
  typealias Host = ExternalLoginHost

  private typealias Ticket = WebSignIn.Ticket

  private struct State: Sendable {
    var machine: WebSignIn
    var inbox: [WebSignIn.Input] = []
    /// Tasks to cancel after the lock is released.
    var stopped: [Task<Void, Never>] = []
    var host: Host?
    var tasks: [Ticket: Task<Void, Never>] = [:]
    /// The timers of steps with a time limit.
    var timers: [Ticket: Task<Void, Never>] = [:]
    /// Whether the provider shows its page.
    var isAtPage = false
    /// The tokens that steps returned, and whether a user signed in for them.
    var tokens: [Ticket: (tokens: IdentityTokens, isOfUser: Bool)] = [:]
    var answers: [Ticket: TokenResponse] = [:]
    /// The redirects from the app that were not answered yet.
    var redirects: [UInt32: URL] = [:]
    /// Whether the provider accepted a redirect, until its caller has received the answer.
    var replies: [UInt32: Bool] = [:]
    var redirectCount: UInt32 = 0
    var ending: Ending?
  }

  /// The prompt that the caller requested.
  let prompt: WebSignIn.Prompt
  private let state: WaitableState<State>
  private let observer = RedirectObserver()
  private let steps: Steps

  /// The functions of the app's provider and view, without their types.
  struct Steps: Sendable {
    var warmUp: @Sendable () async throws -> Void = {}
    var acquireSilently: @Sendable (Identifier?) async throws -> IdentityTokens = { _ in
      throw WebSignInProblem.noAccount
    }
    var makeView: @Sendable () async throws -> Void = {}
    var observe: @Sendable (RedirectObserver) async throws -> Void = { _ in }
    var present: @Sendable () async throws -> Void = {}
    var signIn: @Sendable (WebSignIn.Prompt, Host) async throws -> IdentityTokens =
      { _, _ in throw WebSignInProblem.viewFailed }
    var dismiss: @Sendable () async -> Void = {}
    let handle: @Sendable (URL) async -> Bool
  }

  init(_ mode: WebSignIn.Mode, _ prompt: WebSignIn.Prompt, _ steps: Steps) {
    state = WaitableState(State(machine: WebSignIn(mode)))
    self.prompt = prompt
    self.steps = steps
  }

  /// Creates a sign-in on a view.
  convenience init<Provider: IdentityProvider>(
    _ provider: Provider, _ view: Provider.View, _ prompt: WebSignIn.Prompt
  ) {
    self.init(
      .interactive, prompt,
      Steps(
        warmUp: { try await provider.warmUp() },
        acquireSilently: { try await provider.acquireSilently($0) },
        makeView: { try await view.make() },
        observe: { try await view.observe(with: $0) },
        present: { try await view.present() },
        signIn: { prompt, _ in try await provider.login(in: view, prompt: prompt) },
        dismiss: { await view.dismiss() },
        handle: { await provider.handle($0) }))
  }

  /// Creates a silent sign-in.
  convenience init(silently provider: some IdentityProvider) {
    self.init(
      .silent, .ifNeeded,
      Steps(
        warmUp: { try await provider.warmUp() },
        acquireSilently: { try await provider.acquireSilently($0) },
        makeView: { throw WebSignInProblem.viewFailed }, handle: { await provider.handle($0) }))
  }

  // MARK: What is asked of it

  /// Runs the sign-in until it ends.
  ///
  /// If it was cancelled before, it ends at once.
  func run(_ host: Host) async -> Ending {
    state.withLock { $0.host = host }
    // After a limit of the policy, the user must sign in again (POL-5, POL-10).
    let limits: [ExpiryReason?] = [.inactivity, .lifetimeEnded]
    tell(.begin(limits.contains(host.expired?.reason) ? .always : prompt))
    return await ended()
  }

  /// Ends the sign-in and undoes its effects.
  ///
  /// Called if no caller waits for it any more.
  func cancel() { tell(.cancel) }

  /// Waits until the sign-in has ended and its view is gone.
  func ended() async -> Ending {
    await state.answer { $0.ending }
  }

  /// Waits until the sign-in has ended, and until the provider has returned from a cancelled page.
  ///
  /// It waits for the page for `WebSignIn.dismissLimit` at most, so that two pages of one SDK are
  /// not open at once.
  func waitUntilEnded() async {
    _ = await ended()
    guard let host = state.withLock({ $0.isAtPage ? $0.host : nil }) else { return }
    _ = spawn(host) { flow in
      if await host.wait(WebSignIn.dismissLimit.milliseconds(atLeast: 0)) { flow.leavePage() }
    }
    await state.answer { $0.isAtPage ? nil : () }
  }

  /// Passes on a redirect that arrived outside of the view.
  ///
  /// Returns whether the provider accepted it; `false` if it does not answer in time.
  func handle(_ redirect: URL) async -> Bool {
    let problem = RedirectReader.problem(in: redirect.absoluteString)
    let number = state.withLock { state in
      state.redirectCount += 1
      state.redirects[state.redirectCount] = redirect
      return state.redirectCount
    }
    tell(.redirected(number, problem))
    return await state.answer { $0.replies.removeValue(forKey: number) }
  }

  // MARK: The loop

  private func tell(_ inputs: WebSignIn.Input...) {
    let (stopped, isAwaited) = state.withLock { state in
      let wasOpen = state.ending == nil
      state.inbox += inputs
      while !state.inbox.isEmpty {
        for effect in state.machine.handle(state.inbox.removeFirst()) { perform(effect, &state) }
      }
      defer { state.stopped = [] }
      return (state.stopped, wasOpen && state.ending != nil || !state.replies.isEmpty)
    }
    if isAwaited { state.resumeWaiters() }
    // Outside of the lock, because the app's code may run directly when its task is cancelled.
    for task in stopped { task.cancel() }
  }

  private func perform(_ effect: WebSignIn.Effect, _ state: inout State) {
    switch effect {
    case .perform(let step, let ticket):
      if step == .signIn { state.isAtPage = true }
      let (account, prompt) = (state.host?.expired?.user, state.machine.prompt)
      state.tasks[ticket] = spawn(state.host) { await $0.run(step, ticket, account, prompt) }
      state.timers[ticket] = step.limit.flatMap { bound(ticket, by: $0, state.host) }
    case .stop(let ticket): if let task = state.tasks[ticket] { state.stopped.append(task) }
    case .map(let ticket): _ = spawn(state.host) { await $0.map(ticket) }
    case .discard(let ticket):
      state.answers[ticket] = nil
      guard let brought = state.tokens.removeValue(forKey: ticket), brought.isOfUser else { return }
      state.host?.giveBack(brought.tokens)
    case .stopObserving: observer.stop()
    case .handle(let number): handOver(number, state)
    case .refuse(let number):
      if state.redirects.removeValue(forKey: number) != nil { state.replies[number] = false }
    case .tell(let outcome): end(outcome, &state)
    }
  }

  private func bound(
    _ ticket: Ticket, by limit: WebSignIn.Limit, _ host: Host?
  ) -> Task<Void, Never>? {
    guard let host else { return nil }
    let time =
      switch limit {
      case .request: host.requestTimeout
      case .dismissal: WebSignIn.dismissLimit.milliseconds(atLeast: 0)
      }
    return spawn(host) { flow in if await host.wait(time) { flow.tell(.late(ticket)) } }
  }

  private func map(_ ticket: Ticket) async {
    let found = state.withLock { state in
      state.tokens[ticket].flatMap { brought in state.host.map { (brought, $0) } }
    }
    guard let (brought, host) = found else { return tell(.failed(ticket, nil)) }
    do throws(WebSignInProblem) {
      let answer = try host.map(brought.tokens)
      if !brought.isOfUser, let user = answer.user?.id, await host.isUnwelcome(user) {
        throw .noAccount
      }
      state.withLock { state in
        // The sign-in may not need them any more.
        if state.tokens[ticket] != nil { state.answers[ticket] = answer }
      }
      tell(.done(ticket))
    } catch {
      let wasThere = state.withLock { $0.tokens.removeValue(forKey: ticket) != nil }
      if brought.isOfUser, wasThere { host.giveBack(brought.tokens) }
      tell(.failed(ticket, error))
    }
  }

  private func end(_ outcome: WebSignIn.Outcome, _ state: inout State) {
    let ending: Ending
    switch outcome {
    case .signedIn(let ticket, let method):
      state.tokens[ticket] = nil
      let answer = state.answers.removeValue(forKey: ticket)
      ending = answer.map { .signedIn($0, method) } ?? .failed(.unreadableTokens)
    case .failed(let problem): ending = .failed(problem)
    }
    state.ending = ending
  }

  private func spawn(
    _ host: Host?, _ work: @escaping @Sendable (WebSignInFlow) async -> Void
  ) -> Task<Void, Never>? {
    host?.spawn { [self] in await work(self) }
  }

  // MARK: Steps

  private func run(
    _ step: WebSignIn.Step, _ ticket: Ticket, _ account: Identifier?, _ prompt: WebSignIn.Prompt
  ) async {
    do {
      switch step {
      case .warmUp: try await steps.warmUp()
      case .acquireSilently:
        keep(try await steps.acquireSilently(account), of: ticket, isOfUser: false)
      case .makeView: try await steps.makeView()
      case .observe: try await steps.observe(observer)
      case .present: try await steps.present()
      case .signIn:
        guard let host = state.withLock({ $0.host }) else { throw WebSignInProblem.viewFailed }
        keep(try await steps.signIn(prompt, host), of: ticket, isOfUser: true)
      case .dismiss: await steps.dismiss()
      }
      leave(step, ticket)
      tell(.done(ticket))
    } catch {
      leave(step, ticket)
      tell(.saw(observer.retained), .failed(ticket, IdentityError.problem(in: error)))
    }
  }

  private func keep(_ tokens: IdentityTokens, of ticket: Ticket, isOfUser: Bool) {
    state.withLock { $0.tokens[ticket] = (tokens, isOfUser) }
  }

  private func leave(_ step: WebSignIn.Step, _ ticket: Ticket) {
    let timer = state.withLock { state in
      state.tasks[ticket] = nil
      return state.timers.removeValue(forKey: ticket)
    }
    timer?.cancel()
    if step == .signIn { leavePage() }
  }

  /// Records that the provider has left its page, or is not awaited any more.
  private func leavePage() {
    state.change { $0.isAtPage = false }
  }

  // MARK: Redirects from outside

  private func handOver(_ number: UInt32, _ state: borrowing State) {
    guard let host = state.host, let url = state.redirects[number] else { return }
    let timer = spawn(host) { flow in
      if await host.wait(host.requestTimeout) { flow.reply(number, false) }
    }
    _ = spawn(host) { flow in
      let isTaken = await flow.steps.handle(url)
      timer?.cancel()
      // A redirect of another sign-in, or one that was already answered, does not concern this one.
      if isTaken, flow.isAwaited(number) { flow.observer.see(url) }
      flow.reply(number, isTaken)
    }
  }

  private func isAwaited(_ number: UInt32) -> Bool {
    state.withLock { $0.redirects[number] != nil }
  }

  private func reply(_ number: UInt32, _ isTaken: Bool) {
    tell(.handedIn(number))
    state.change { state in
      if state.redirects.removeValue(forKey: number) != nil { state.replies[number] = isTaken }
    }
  }
}
