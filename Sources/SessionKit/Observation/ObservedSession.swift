public import Observation
public import SessionCore

/// A session for SwiftUI to observe on the main actor.
///
/// Each property is set only if its value changes.
///
/// ```swift
/// @State private var observed: ObservedSession
///
/// var body: some View {
///   if observed.isAuthenticated { Home(user: observed.user) } else { SignIn(observed.loginError) }
/// }
/// ```
/// It shows the session but does not change it. Send commands to `observed.session`. The properties
/// may be slightly older than the session's, but all are of the same moment. It holds the session,
/// and follows it until the session is closed or this object is released.
///
/// - Requirement: STA-7
@MainActor
@Observable
public final class ObservedSession {
  /// The session itself.
  public nonisolated let session: Session
  /// The state that results from folding the events.
  public private(set) var state: SessionState
  /// What the process is doing for the session.
  public private(set) var activity: SessionActivity
  /// The profile of the session's user; `nil` if there is no user.
  public private(set) var user: UserProfile?
  /// Whether records or stored items could not be read or written, or an item is missing.
  ///
  /// `session.storageProblem` says why.
  public private(set) var hasStorageProblem: Bool
  /// Why and when a session ended last, even after the user was signed out.
  ///
  /// - Requirement: STA-8
  public private(set) var lastEnd: SessionEnd?
  /// Why the last sign-in failed, until the app clears it or tries again.
  ///
  /// - Requirement: STA-3
  public private(set) var loginError: SessionError?
  /// What the server needs the user for; `nil` if it needs no user.
  ///
  /// ``Session/userNeeded`` says when it ends.
  ///
  /// - Requirement: STA-9
  public private(set) var userNeeded: UserNeed?
  /// Whether the app has locked the session; see ``Session/lock()``.
  ///
  /// - Requirement: ACC-2
  public private(set) var isLocked: Bool
  /// Whether a user is signed in and the session has not expired.
  public private(set) var isAuthenticated: Bool
  /// Whether the session object was closed.
  ///
  /// Then nothing changes any more.
  public private(set) var isClosed = false

  @ObservationIgnored private var following: Task<Void, Never>?

  /// Creates an object that follows a session, beginning with its current values.
  public init(_ session: Session) {
    let status = session.status
    self.session = session
    state = status.state
    activity = status.activity
    user = status.user
    hasStorageProblem = status.hasStorageProblem
    lastEnd = status.lastEnd
    loginError = status.loginError
    userNeeded = status.userNeeded
    isLocked = status.isLocked
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

  /// The role, school and unit in which the user acts; `nil` unless authenticated with a context.
  public var activeContext: ActiveContext? { state.activeContext }

  /// Why the session has expired; `nil` unless it has.
  public var expiryReason: ExpiryReason? { status.expiryReason }

  /// Returns whether the active context grants `permission`, such as `materials:read`.
  public func isPermitted(_ permission: String) -> Bool {
    activeContext?.permits(permission) ?? false
  }

  private var status: SessionStatus { SessionStatus(state: state, activity: activity) }

  /// Sets the properties that differ, since observers treat every assignment as a change.
  private func show(_ status: SessionStatus) {
    if state != status.state { state = status.state }
    if activity != status.activity { activity = status.activity }
    if user != status.user { user = status.user }
    if hasStorageProblem != status.hasStorageProblem {
      hasStorageProblem = status.hasStorageProblem
    }
    if lastEnd != status.lastEnd { lastEnd = status.lastEnd }
    if loginError != status.loginError { loginError = status.loginError }
    if userNeeded != status.userNeeded { userNeeded = status.userNeeded }
    if isLocked != status.isLocked { isLocked = status.isLocked }
    if isAuthenticated != status.isAuthenticated { isAuthenticated = status.isAuthenticated }
  }
}
