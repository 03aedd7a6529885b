import Foundation
import SessionKit
import SessionWebSignIn
import Synchronization

/// An identity SDK and a view that a test scripts: each step works, fails or waits.
final class FakeIdentity: Sendable {
  enum Act: Sendable {
    case work
    case fail(any Error)
    /// Waits until the test lets the step go or its task is cancelled.
    case wait
    /// Waits in the same way, and ignores the cancellation.
    case waitAndIgnore
  }

  private struct State {
    var acts: [String: Act] = [:]
    var log: [String] = []
    var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
    var tokens = FakeIdentity.tokens(1)
    /// The tokens of the page, if they differ from those of the silent attempt.
    var pageTokens: IdentityTokens?
    var prompts: [WebSignIn.Prompt] = []
    var observer: RedirectObserver?
    var onStep: (@Sendable (String) -> Void)?
    var accounts: [Identifier?] = []
    var failures: [String: any Error] = [:]
  }

  struct Failed: Error {}

  private let state = Mutex(State())

  static func tokens(_ number: Int, user: String = "o-1") -> IdentityTokens {
    IdentityTokens(
      access: Secret("access-SECRET-\(number)"), refresh: Secret("refresh-SECRET-\(number)"),
      identity: idToken("{\"oid\":\"\(user)\",\"emails\":[\"ana@school.test\"]}"),
      lifetime: .seconds(3600))
  }

  static func idToken(_ payload: String) -> Secret {
    let text = Data(payload.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
    return Secret("h.\(text).s")
  }

  /// The steps that were called, in order.
  var log: [String] { state.withLock { $0.log } }
  var observer: RedirectObserver? { state.withLock { $0.observer } }
  /// The accounts for which tokens were requested silently.
  var accounts: [Identifier?] { state.withLock { $0.accounts } }

  func script(_ step: String, _ act: Act) { state.withLock { $0.acts[step] = act } }
  func give(_ tokens: IdentityTokens) { state.withLock { $0.tokens = tokens } }
  func giveOnPage(_ tokens: IdentityTokens) { state.withLock { $0.pageTokens = tokens } }
  /// Whether the page was to ask the user, for each login.
  var prompts: [WebSignIn.Prompt] { state.withLock { $0.prompts } }
  func onStep(_ tell: @escaping @Sendable (String) -> Void) { state.withLock { $0.onStep = tell } }

  /// A caller that waits at this step continues, and the step throws this error.
  func failing(_ step: String, with error: any Error) {
    let before = state.withLock { state in
      state.failures[step] = error
      return state.waiting.removeValue(forKey: step) ?? []
    }
    for one in before { one.resume() }
  }

  func letGo(_ step: String) {
    for one in state.withLock({ $0.waiting.removeValue(forKey: step) }) ?? [] { one.resume() }
  }

  func isWaiting(_ step: String) -> Bool { state.withLock { $0.waiting[step] != nil } }

  fileprivate func brought() -> IdentityTokens { state.withLock { $0.tokens } }
  fileprivate func broughtOnPage(_ prompt: WebSignIn.Prompt) -> IdentityTokens {
    state.withLock { state in
      state.prompts.append(prompt)
      return state.pageTokens ?? state.tokens
    }
  }
  fileprivate func keep(_ observer: RedirectObserver) { state.withLock { $0.observer = observer } }
  fileprivate func asked(_ account: Identifier?) { state.withLock { $0.accounts.append(account) } }

  fileprivate func run(_ step: String) async throws {
    let (act, tell) = state.withLock { state in
      state.log.append(step)
      return (state.acts[step] ?? .work, state.onStep)
    }
    tell?(step)
    switch act {
    case .work: return
    case .fail(let error): throw error
    case .wait:
      await pause(step, heeds: true)
      if let error = state.withLock({ $0.failures.removeValue(forKey: step) }) { throw error }
      try Task.checkCancellation()
    case .waitAndIgnore: await pause(step, heeds: false)
    }
  }

  private func pause(_ step: String, heeds: Bool) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if heeds, Task.isCancelled { return true }
          state.waiting[step, default: []].append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      if heeds { letGo(step) }
    }
  }
}

/// The SDK's part.
struct FakeProvider: IdentityProvider {
  let fake: FakeIdentity

  func warmUp() async throws { try await fake.run("warmUp") }

  func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens {
    fake.asked(account)
    try await fake.run("acquireSilently")
    return fake.brought()
  }

  func login(in view: FakeView, prompt: WebSignIn.Prompt) async throws -> IdentityTokens {
    try await fake.run("signIn")
    return fake.broughtOnPage(prompt)
  }

  func handle(_ redirect: URL) async -> Bool {
    do { try await fake.run("handle") } catch { return false }
    return true
  }

  func removeAccount(_ account: Identifier) async throws {
    try await fake.run("removeAccount \(account)")
  }
}

/// The view's part.
struct FakeView: WebSignInView {
  let fake: FakeIdentity

  func make() async throws { try await fake.run("makeView") }

  func observe(with observer: RedirectObserver) async throws {
    fake.keep(observer)
    try await fake.run("observe")
  }

  func present() async throws { try await fake.run("present") }

  func dismiss() async {
    do { try await fake.run("dismiss") } catch {
      // A dismissal cannot fail.
    }
  }
}
