import Foundation
import SessionCore
import Synchronization

/// Performs what ``WebSignIn`` decides, with one provider and one view.
///
/// It decides nothing: what happened is told under one lock, and what comes out is begun before the lock is
/// left, so that nothing is begun behind an end that was told.
final class WebSignInFlow: Sendable {
  /// How it ended, with the tokens.
  enum Ending: Sendable {
    case signedIn(TokenAnswer, LoginMethod)
    case failed(WebSignInProblem)
  }

  /// What the session brings in.
  struct Host: Sendable {
    /// Makes an answer of tokens.
    let map: @Sendable (IdentityTokens) throws(WebSignInProblem) -> TokenAnswer
    /// Gives tokens back that a user's sign-in brought and nobody wants.
    let giveBack: @Sendable (IdentityTokens) -> Void
    /// Waits so many milliseconds; `false` where the task is cancelled first.
    let wait: @Sendable (Int64) async -> Bool
    /// Starts work that outlives the call.
    let spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
  }

  private typealias Ticket = WebSignIn.Ticket

  private struct State {
    var machine: WebSignIn
    var inbox: [WebSignIn.Input] = []
    /// Tasks to be cancelled once the lock is left.
    var stopped: [Task<Void, Never>] = []
    var host: Host?
    var tasks: [Ticket: Task<Void, Never>] = [:]
    /// Bounds how long the view may take to go.
    var timer: Task<Void, Never>?
    /// What steps brought, and whether a user signed in for it.
    var tokens: [Ticket: (tokens: IdentityTokens, isOfUser: Bool)] = [:]
    var answers: [Ticket: TokenAnswer] = [:]
    var redirects: [UInt32: (url: URL, reply: CheckedContinuation<Bool, Never>)] = [:]
    var redirectCount: UInt32 = 0
    var ending: Ending?
    var waiters: [CheckedContinuation<Ending, Never>] = []
  }

  private let state: Mutex<State>
  private let observer = Mutex<RedirectObserver?>(nil)
  private let steps: Steps

  /// The app's parts, without their types.
  struct Steps: Sendable {
    let warmUp: @Sendable () async throws -> Void
    let acquireSilently: @Sendable () async throws -> IdentityTokens
    let makeView: @Sendable () async throws -> Void
    let observe: @Sendable (RedirectObserver) async throws -> Void
    let present: @Sendable () async throws -> Void
    let signIn: @Sendable () async throws -> IdentityTokens
    let dismiss: @Sendable () async -> Void
    let handIn: @Sendable (URL) async -> Bool
  }

  init(_ mode: WebSignIn.Mode, _ steps: Steps) {
    state = Mutex(State(machine: WebSignIn(mode)))
    self.steps = steps
    observer.withLock {
      $0 = RedirectObserver { [weak self] problem in self?.tell(.saw(problem)) }
    }
  }

  /// A sign-in on a view.
  convenience init<Provider: IdentityProvider>(_ provider: Provider, _ view: Provider.View) {
    self.init(
      .interactive,
      Steps(
        warmUp: { try await provider.warmUp() },
        acquireSilently: { try await provider.acquireSilently(nil) },
        makeView: { try await view.make() },
        observe: { try await view.observe(with: $0) },
        present: { try await view.present() },
        signIn: { try await provider.signIn(in: view) },
        dismiss: { await view.dismiss() },
        handIn: { await provider.handIn($0) }))
  }

  /// A sign-in that shows nothing.
  convenience init(silently provider: some IdentityProvider) {
    self.init(
      .silent,
      Steps(
        warmUp: { try await provider.warmUp() },
        acquireSilently: { try await provider.acquireSilently(nil) },
        makeView: { throw WebSignInProblem.viewFailed }, observe: { _ in }, present: {},
        signIn: { throw WebSignInProblem.viewFailed }, dismiss: {},
        handIn: { await provider.handIn($0) }))
  }

  // MARK: What is asked of it

  /// Runs it to its end, at once where it was cancelled before.
  func run(_ host: Host) async -> Ending {
    state.withLock { $0.host = host }
    tell(.begin)
    return await ended()
  }

  /// Nobody waits any more: everything is undone.
  func cancel() { tell(.cancel) }

  /// Waits until it has ended, and all that it made is gone.
  func ended() async -> Ending {
    await withCheckedContinuation { continuation in
      let ending = state.withLock { state in
        if state.ending == nil { state.waiters.append(continuation) }
        return state.ending
      }
      if let ending { continuation.resume(returning: ending) }
    }
  }

  /// Hands a redirect in that came from outside of the view; whether the provider took it.
  func handIn(_ redirect: URL) async -> Bool {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state in
        state.redirectCount += 1
        state.redirects[state.redirectCount] = (redirect, continuation)
        return state.redirectCount
      }
      tell(.redirected(number))
    }
  }

  // MARK: The loop

  private func tell(_ input: WebSignIn.Input) {
    let stopped = state.withLock { state in
      state.inbox.append(input)
      while !state.inbox.isEmpty {
        for effect in state.machine.handle(state.inbox.removeFirst()) { perform(effect, &state) }
      }
      defer { state.stopped = [] }
      return state.stopped
    }
    // Behind the lock: what the app does when its task is cancelled, it does here and now.
    for task in stopped { task.cancel() }
  }

  private func perform(_ effect: WebSignIn.Effect, _ state: inout State) {
    switch effect {
    case .perform(let step, let ticket):
      state.tasks[ticket] = spawn(state.host) { await $0.run(step, ticket) }
      guard step == .dismiss, let wait = state.host?.wait else { return }
      state.timer = spawn(state.host) { flow in
        // A view that does not say that it is gone keeps nobody waiting for ever.
        if await wait(WebSignIn.dismissLimit) { flow.tell(.failed(ticket, nil)) }
      }
    case .stop(let ticket): if let task = state.tasks[ticket] { state.stopped.append(task) }
    case .map(let ticket): map(ticket, &state)
    case .discard(let ticket):
      state.answers[ticket] = nil
      guard let brought = state.tokens.removeValue(forKey: ticket), brought.isOfUser else { return }
      state.host?.giveBack(brought.tokens)
    case .stopObserving: observer.withLock { $0 }?.stop()
    case .handIn(let number):
      guard let redirect = state.redirects.removeValue(forKey: number) else { return }
      _ = spawn(state.host) { flow in
        redirect.reply.resume(returning: await flow.handOver(redirect.url))
      }
    case .refuse(let number):
      state.redirects.removeValue(forKey: number)?.reply.resume(returning: false)
    case .tell(let outcome): end(outcome, &state)
    }
  }

  private func map(_ ticket: Ticket, _ state: inout State) {
    guard let brought = state.tokens[ticket], let host = state.host else {
      return state.inbox.append(.failed(ticket, nil))
    }
    do throws(WebSignInProblem) {
      state.answers[ticket] = try host.map(brought.tokens)
      state.inbox.append(.done(ticket))
    } catch {
      state.tokens[ticket] = nil
      if brought.isOfUser { host.giveBack(brought.tokens) }
      state.inbox.append(.failed(ticket, error))
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
    for waiter in state.waiters { waiter.resume(returning: ending) }
    state.waiters = []
  }

  private func spawn(
    _ host: Host?, _ work: @escaping @Sendable (WebSignInFlow) async -> Void
  ) -> Task<Void, Never>? {
    host?.spawn { [self] in await work(self) }
  }

  // MARK: Steps

  private func run(_ step: WebSignIn.Step, _ ticket: Ticket) async {
    do {
      switch step {
      case .warmUp: try await steps.warmUp()
      case .acquireSilently: keep(try await steps.acquireSilently(), of: ticket, isOfUser: false)
      case .makeView: try await steps.makeView()
      case .observe:
        if let observer = observer.withLock({ $0 }) { try await steps.observe(observer) }
      case .present: try await steps.present()
      case .signIn: keep(try await steps.signIn(), of: ticket, isOfUser: true)
      case .dismiss:
        await steps.dismiss()
        state.withLock { $0.timer }?.cancel()
      }
      leave(ticket)
      tell(.done(ticket))
    } catch {
      leave(ticket)
      tell(.failed(ticket, IdentityError.problem(in: error)))
    }
  }

  private func keep(_ tokens: IdentityTokens, of ticket: Ticket, isOfUser: Bool) {
    state.withLock { $0.tokens[ticket] = (tokens, isOfUser) }
  }

  private func leave(_ ticket: Ticket) {
    state.withLock { $0.tasks[ticket] = nil }
  }

  private func handOver(_ redirect: URL) async -> Bool {
    observer.withLock { $0 }?.see(redirect)
    return await steps.handIn(redirect)
  }
}
