import SessionCore

/// What runs for a provider of tokens: external logins, and removals of accounts.
struct ProviderBridge: Sendable {
  /// The users whose accounts the token source still has to remove.
  let pendingRemovals = PendingAccountRemovals()
  /// The last removal of an account by the token source, limited in time.
  var removal: Task<Void, Never>?
  /// The last external login, until it has ended.
  private(set) var login: (any ExternalLogin)?
  /// Ends when that login and all earlier ones have ended completely.
  private var loginsBefore: Task<Void, Never>?

  /// Begins a login, and returns the task that ends with all earlier ones.
  ///
  /// A login waits for all earlier ones, also for those whose successor was cancelled.
  mutating func begin(
    _ login: any ExternalLogin, on runtime: SessionRuntime
  ) -> Task<Void, Never>? {
    let before = loginsBefore
    self.login = login
    loginsBefore = runtime.spawn {
      await before?.value
      await login.waitUntilEnded()
    }
    return before
  }

  /// Releases a login that has ended, and with it the app's view.
  mutating func release(_ ended: any ExternalLogin) {
    if login === ended { login = nil }
  }
}
