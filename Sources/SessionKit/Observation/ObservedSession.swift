public import Observation
public import SessionCore

/// A session as SwiftUI observes it: on the main actor, each property changing only when it does.
///
/// ```swift
/// @State private var observed: ObservedSession
///
/// var body: some View {
///   if observed.isAuthenticated { Home(user: observed.user) } else { SignIn(observed.loginError) }
/// }
/// ```
/// It shows the session and does nothing to it: `observed.session` is asked to. What it shows is what
/// the session showed a moment ago; all its properties are of the same moment. Holds the session, and
/// follows it until it is closed or this object is gone.
///
/// - Requirement: STA-7
@MainActor
@Observable
public final class ObservedSession {
  /// The session itself.
  public nonisolated let session: Session
  /// The folded state.
  public private(set) var state: SessionState
  /// What the process is doing for the session.
  public private(set) var activity: SessionActivity
  /// The profile of the user that the session belongs to; `nil` without one.
  public private(set) var user: UserProfile?
  /// Whether records or stored items could not be written; `session.storageProblem` says why.
  public private(set) var hasStorageProblem: Bool
  /// Why and when a session ended last, also after the user was signed out.
  ///
  /// - Requirement: STA-8
  public private(set) var lastEnd: SessionEnd?
  /// Why the last sign-in failed, until the app clears that or tries again.
  ///
  /// - Requirement: STA-3
  public private(set) var loginError: SessionError?
  /// Whether a user is signed in and the session has not expired.
  public private(set) var isAuthenticated: Bool
  /// Whether the session object was closed: nothing changes any more.
  public private(set) var isClosed = false

  @ObservationIgnored private var following: Task<Void, Never>?

  /// Follows a session from what it shows now.
  public init(_ session: Session) {
    let status = session.status
    self.session = session
    state = status.state
    activity = status.activity
    user = status.user
    hasStorageProblem = status.hasStorageProblem
    lastEnd = status.lastEnd
    loginError = status.loginError
    isAuthenticated = status.isAuthenticated
    let states = session.states
    following = Task { [weak self] in
      for await status in states { self?.show(status) }
      self?.isClosed = !Task.isCancelled
    }
  }

  deinit {
    following?.cancel()
  }

  /// The role, school and unit that the user acts in; `nil` unless authenticated with a context.
  public var activeContext: ActiveContext? { state.activeContext }

  /// Why the session has expired; `nil` unless it has.
  public var expiryReason: ExpiryReason? { status.expiryReason }

  /// Whether the active context grants `permission`, such as `materials:read`.
  public func isPermitted(_ permission: String) -> Bool {
    activeContext?.permits(permission) ?? false
  }

  private var status: SessionStatus { SessionStatus(state: state, activity: activity) }

  /// A property that is set is a property that changed, to those who observe it.
  private func show(_ status: SessionStatus) {
    if state != status.state { state = status.state }
    if activity != status.activity { activity = status.activity }
    if user != status.user { user = status.user }
    if hasStorageProblem != status.hasStorageProblem {
      hasStorageProblem = status.hasStorageProblem
    }
    if lastEnd != status.lastEnd { lastEnd = status.lastEnd }
    if loginError != status.loginError { loginError = status.loginError }
    if isAuthenticated != status.isAuthenticated { isAuthenticated = status.isAuthenticated }
  }
}
