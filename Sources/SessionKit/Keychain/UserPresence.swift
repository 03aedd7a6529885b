#if canImport(Security)
import Foundation
import Security

// A watch has no biometry. tvOS has the framework without its types.
#if canImport(LocalAuthentication) && !os(watchOS) && !os(tvOS)
import LocalAuthentication
import Synchronization

/// The user's proof of presence for the keychain, by a finger or a face.
final class UserPresence: Sendable {
  private struct Contexts {
    /// The proof so far.
    ///
    /// It never asks the user.
    var shown = LAContext.silent()
    /// The proof that the user is being asked for.
    var asked: LAContext?
  }

  private let contexts = Mutex(Contexts())

  /// Asks the user and shows them the reason.
  ///
  /// Returns `false` if the user declines or cannot do it.
  func ask(reason: String) async -> Bool {
    guard let control = Self.currentBiometry() else { return false }
    let isShown = await withCheckedContinuation { continuation in
      contexts.withLock { contexts in
        let context = LAContext()
        contexts.asked = context
        context.evaluateAccessControl(control, operation: .useItem, localizedReason: reason) {
          isShown, _ in
          continuation.resume(returning: isShown)
        }
      }
    }
    contexts.withLock { contexts in
      guard isShown, let context = contexts.asked else { return }
      context.interactionNotAllowed = true
      contexts.shown = context
      contexts.asked = nil
    }
    return isShown
  }

  /// Discards the user's proof of presence.
  func forget() {
    contexts.withLock { contexts in
      contexts.shown.invalidate()
      contexts.shown = .silent()
    }
  }

  /// Calls `body` with the user's proof of presence.
  ///
  /// No other thread uses it meanwhile.
  func lend<Answer: Sendable>(_ body: @Sendable (Any?) -> Answer) -> Answer {
    contexts.withLock { contexts in body(contexts.shown) }
  }

  /// Returns the access control for the user, proven by a finger or face that is enrolled now.
  static func currentBiometry() -> SecAccessControl? {
    SecAccessControlCreateWithFlags(
      nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil)
  }
}

extension LAContext {
  /// Returns a context that never shows anything to the user.
  fileprivate static func silent() -> LAContext {
    let context = LAContext()
    context.interactionNotAllowed = true
    return context
  }
}
#else
/// The proof of presence on a system without biometry.
///
/// It is empty, and no item requires it.
struct UserPresence: Sendable {
  func lend<Answer: Sendable>(_ body: @Sendable (Any?) -> Answer) -> Answer { body(nil) }

  static func currentBiometry() -> SecAccessControl? { nil }
}
#endif
#endif
