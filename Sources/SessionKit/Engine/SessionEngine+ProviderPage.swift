@_spi(Internals) import SessionCore
import SessionJournal

/// The logout at the provider's page, which may outlive the process.
///
/// ```
///        keepProviderPage      logout is durable      the page has redirected
///  none ─────────────────▶ kept ────────────────▶ pending ──────────────────▶ none
///                           │ killed, or the logout failed: the user is still signed in
///                           └──▶ the next logout replaces or ignores it
/// ```
///
/// The entry is stored before the logout, because the logout removes the identity token. It is pending only
/// while no user is signed in, and only for the generation that ended. So no note is needed, and the journal
/// has no secret.
///
/// - Requirement: OUT-8
extension SessionEngine {
  /// Keeps what the page needs, before the logout, and returns it.
  ///
  /// Without a signed-in or expired user nothing is stored.
  func keepProviderPage() async throws(SessionError) -> ProviderPage? {
    var kept: ProviderPage?
    try await withItems { () throws(SessionError) in
      guard coordinator.fold.kind != .unauthenticated else { return }
      kept = ProviderPage(identity: try vault.keepPage(of: coordinator.fold.generation))
    }
    return kept
  }

  /// Returns the logout at the page that is pending; `nil` if there is none.
  func pendingProviderPage() async throws(SessionError) -> ProviderPage? {
    guard !states.isFinished else { throw .closed }
    await readPeers()
    let fold = coordinator.fold
    guard fold.kind == .unauthenticated, let page = try vault.page(of: fold.generation) else {
      return nil
    }
    return ProviderPage(identity: page.identity.map { Secret($0) })
  }

  /// Removes what the page needed.
  func forgetProviderPage() async throws(SessionError) {
    try await withItems { () throws(SessionError) in try vault.forgetPage() }
  }

  /// Changes the items under the journal's lock, knowing the whole journal.
  private func withItems(_ change: () throws(SessionError) -> Void) async throws(SessionError) {
    guard !states.isFinished else { throw .closed }
    var isDone = false
    while !isDone {
      await readPeers()
      let result: Result<Bool, SessionError>
      do throws(JournalError) {
        result = try await locked { foreign in
          // A peer has appended since. It is read first, without the lock.
          guard unknown(foreign).isEmpty else { return .success(false) }
          do throws(SessionError) { try change() } catch { return .failure(error) }
          return .success(true)
        }
      } catch { throw .journal(error) }
      isDone = try result.get()
    }
  }
}

/// A logout at the provider's page that the user has not passed.
package struct ProviderPage: Sendable {
  /// The identity token; `nil` if the session has none.
  package let identity: Secret?
}
