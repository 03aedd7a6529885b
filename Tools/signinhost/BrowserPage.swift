import Foundation
import SessionKit
import SessionTestSupport
import SessionWebSignIn
import Synchronization

/// A view whose browser runs in another process: it sends addresses to load, and receives those
/// loaded.
final class BrowserPage: IdentityPage {
  private struct State {
    var observer: RedirectObserver?
    var scheme = ""
    var waiter: CheckedContinuation<URL?, Never>?
  }

  private let state = Mutex(State())
  private let isObserved: Bool
  private let say: @Sendable (Saying) -> Void

  init(isObserved: Bool, say: @escaping @Sendable (Saying) -> Void) {
    self.isObserved = isObserved
    self.say = say
  }

  func make() async throws {}

  func observe(with observer: RedirectObserver) async throws {
    state.withLock { $0.observer = isObserved ? observer : nil }
  }

  func present() async throws {}

  func dismiss() async {
    end(nil)
    say(Saying(what: "close"))
  }

  func follow(_ address: URL, to scheme: String) async throws -> URL {
    let end = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        state.withLock { ($0.scheme, $0.waiter) = (scheme, waiter) }
        say(Saying(what: "open", address: address.absoluteString))
        if Task.isCancelled { self.end(nil) }
      }
    } onCancel: {
      self.end(nil)
    }
    guard let end else { throw PageWasLeft() }
    return end
  }

  func end(with redirect: URL) -> Bool { end(redirect) }

  /// Records that the browser loads this address.
  func saw(_ address: String) {
    let (observer, scheme) = state.withLock { ($0.observer, $0.scheme) }
    observer?.see(address)
    guard address.hasPrefix(scheme + "://"), !scheme.isEmpty else { return }
    end(URL(string: address))
  }

  /// Ends the sign-in, since the user closed the view.
  func leave() { end(nil) }

  @discardableResult
  private func end(_ url: URL?) -> Bool {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: url)
    return waiter != nil
  }
}
