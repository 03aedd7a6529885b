#if canImport(Security)
  import Foundation
  import Security

  // A watch has no biometry. tvOS has the framework without its types.
  #if canImport(LocalAuthentication) && !os(watchOS) && !os(tvOS)
    import LocalAuthentication
    import Synchronization

    /// What the user has shown of themselves to the keychain: by a finger or a face.
    final class UserPresence: Sendable {
      private struct Contexts {
        /// What the user has shown; asks for nothing by itself.
        var shown = LAContext.silent()
        /// What the user is being asked for.
        var asked: LAContext?
      }

      private let contexts = Mutex(Contexts())

      /// Asks the user, with a reason that is shown to them; false if they did not, or cannot.
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

      /// Forgets what the user has shown.
      func forget() {
        contexts.withLock { contexts in
          contexts.shown.invalidate()
          contexts.shown = .silent()
        }
      }

      /// Calls `body` with what the user has shown; no other thread uses it meanwhile.
      func lend<Answer: Sendable>(_ body: @Sendable (Any?) -> Answer) -> Answer {
        contexts.withLock { contexts in body(contexts.shown) }
      }

      /// Who may read an item: the user, by a finger or face that is enrolled now.
      static func currentBiometry() -> SecAccessControl? {
        SecAccessControlCreateWithFlags(
          nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil)
      }
    }

    extension LAContext {
      /// A context that never shows anything to the user.
      fileprivate static func silent() -> LAContext {
        let context = LAContext()
        context.interactionNotAllowed = true
        return context
      }
    }
  #else
    /// A system without biometry: nothing can be shown, and no item asks for it.
    struct UserPresence: Sendable {
      func lend<Answer: Sendable>(_ body: @Sendable (Any?) -> Answer) -> Answer { body(nil) }

      static func currentBiometry() -> SecAccessControl? { nil }
    }
  #endif
#endif
