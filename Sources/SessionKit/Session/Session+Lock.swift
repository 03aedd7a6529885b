@_spi(Internals) import SessionCore

#if canImport(LocalAuthentication) && !os(tvOS)
import LocalAuthentication
#endif

// A lock without a logout (ACC-2). `unlock()` is another thing: it reads items that the *device* had locked.
extension Session {
  /// Whether no caller receives a token until the app unlocks the session.
  ///
  /// - Requirement: ACC-2
  public var isLocked: Bool { engine.view.isLocked }

  /// Locks the session: the user stays logged in, and no caller receives a token until ``unlock(isolation:after:)``.
  ///
  /// The lock is journaled. So it survives a restart, and all processes of the journal obey it, as soon as they
  /// see it (``state``). While it lasts:
  ///
  /// - ``currentToken`` is `nil`. Calls and ``accessToken()`` throw `locked`, also those that wait for a refresh.
  /// - A call without the session's token is sent, and a call that was sent before may end.
  /// - The token is refreshed in the background, unless the policy's `lock.allowsRefresh` is `false`.
  /// - Logins, logouts and every end of the session work. The lock ends with the session.
  ///
  /// If it throws `storage`, the lock counts in this process, and is journaled with the next record. If no user is
  /// logged in, it throws `notLoggedIn`, `expired` or `loggedOut`. Cancelling the task does not undo it.
  ///
  /// - Requirement: ACC-2
  public func lock() async throws(SessionError) {
    _ = try await engine.ask(cancellation: .detaches) { .lock($0) }
  }

  /// Unlocks a session that is locked, after a check of the user.
  ///
  /// ```swift
  /// try await session.unlock { try await passcode.verify() }
  /// ```
  /// If `check` throws, the session stays locked, and this throws the same error. If the session is not locked, the
  /// check does not run. Of several calls at one time, one checks. The others wait, and each checks only if those
  /// before failed. The unlock counts as a use of the session, and is journaled. It throws
  ///
  /// - `locked` if the session was locked again during the check.
  /// - `storage` if the unlock cannot be journaled: the session stays locked.
  /// - `notLoggedIn`, `expired` or `loggedOut` if no user is logged in.
  ///
  /// - Parameters:
  ///   - isolation: the actor on which `check` runs, that of the caller by default.
  ///   - check: returns if the user is present. It should end if its task is cancelled. One that hangs keeps
  ///     other unlocks waiting, until ``lock()`` is called.
  /// - Requirement: ACC-2
  public func unlock(
    isolation: isolated (any Actor)? = #isolation, after check: () async throws -> Void
  ) async throws {
    guard case .unlocking(let number) = try await engine.ask({ .beginUnlock($0) }) else { return }
    do { try await check() } catch {
      await engine.checkFailed(number)
      throw error
    }
    // The user is present, even if the task is cancelled.
    _ = try await engine.ask(cancellation: .ignored) { .checkPassed($0, number) }
  }

  #if canImport(LocalAuthentication) && !os(tvOS)
  /// Unlocks a session that is locked, after the system has checked the user.
  ///
  /// The system asks for a finger, a face, a watch or the device's passcode.
  ///
  /// - Parameter reason: why the app asks, for the user, in their language; not empty.
  /// - Requirement: ACC-2
  public func unlock(reason: String) async throws {
    try await unlock {
      // A context of its own: a proof that the keychain has kept says nothing of now.
      let context = LAContext()
      let policy = LAPolicy.deviceOwnerAuthentication
      let isPresent = try await context.evaluatePolicy(policy, localizedReason: reason)
      guard isPresent else { throw SessionError.appLocked }
    }
  }
  #endif
}

extension SessionEngine {
  /// Notes that a check of the user failed.
  func checkFailed(_ number: UInt64) { feed(.checkFailed(number)) }
}
