public import Foundation
import SessionCore
import Synchronization

/// Which notices say that an app comes to the foreground and goes to the background, and how it gets
/// time there.
public struct LifecycleNotices: Sendable {
  /// Posted before or when the app comes to the foreground.
  public var foreground: Notification.Name
  /// Posted when the app has gone to the background, where the system may suspend it.
  public var background: Notification.Name
  /// Posted when protected files and items can be read that could not be before; `nil` where the system
  /// has no such notice.
  ///
  /// - Requirement: RES-3
  public var unlocked: Notification.Name?
  /// Performs work that should be finished before the system suspends the app.
  public var finish: @Sendable (_ work: @escaping @Sendable () async -> Void) -> Void

  /// Notices; what is not said of `finish` is a task like any other.
  public init(
    foreground: Notification.Name, background: Notification.Name,
    unlocked: Notification.Name? = nil,
    finish: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void = { work in
      Task { await work() }
    }
  ) {
    self.foreground = foreground
    self.background = background
    self.unlocked = unlocked
    self.finish = finish
  }
}

/// Tells a session when its app comes to the foreground and goes to the background.
///
/// On coming, an expired token is refreshed; what could not be read before is read when the device is
/// unlocked. On going, a request that may hold the only token that the
/// server takes from now on is given the time to end. Works as long as this object lives; holds the
/// session.
///
/// - Requirement: REF-2
public final class SessionLifecycle: Sendable {
  private struct Registration {
    var tokens: [any NSObjectProtocol] = []
  }

  private let center: NotificationCenter
  private let registration = Mutex(Registration())

  /// Listens from now on.
  public init(
    _ session: Session, _ notices: LifecycleNotices, center: NotificationCenter = .default
  ) {
    self.center = center
    let finish = notices.finish
    registration.withLock { registration in
      registration.tokens = [
        center.addObserver(forName: notices.foreground, object: nil, queue: nil) { _ in
          Task { await session.cameToForeground() }
        },
        center.addObserver(forName: notices.background, object: nil, queue: nil) { _ in
          if session.status.isBusy { finish { await session.untilSettled() } }
        },
      ]
      registration.tokens +=
        notices.unlocked.map {
          [
            center.addObserver(forName: $0, object: nil, queue: nil) { _ in
              Task { await session.retry() }
            }
          ]
        } ?? []
    }
  }

  /// Has an opening try again when the app comes to the foreground and when the device is unlocked.
  ///
  /// - Requirement: RES-3
  public init(
    _ opening: SessionOpening, _ notices: LifecycleNotices, center: NotificationCenter = .default
  ) {
    self.center = center
    registration.withLock { registration in
      registration.tokens = [notices.foreground, notices.unlocked].compactMap(\.self).map {
        center.addObserver(forName: $0, object: nil, queue: nil) { _ in opening.retry() }
      }
    }
  }

  deinit {
    registration.withLock { registration in
      for token in registration.tokens { center.removeObserver(token) }
    }
  }
}

extension Session {
  /// The app has come to the foreground: looks at what other processes appended, ends a session
  /// that was unused for too long, and gets a newer token if the current one has expired.
  ///
  /// Nobody signed in is no error; every other one says what `refresh()` would. Items that could not be
  /// read yet are looked at first. Counts as a use.
  ///
  /// - Requirement: REF-2, POL-5, RES-3
  public func enterForeground() async throws(SessionError) {
    await retry()
    try await use()
    _ = try await engine.ask { .foreground($0) }
  }

  /// Returns when no request is under way that may change the token, or the session object is closed.
  public func untilSettled() async {
    for await status in states where !status.isBusy { return }
  }

  fileprivate func cameToForeground() async {
    do throws(SessionError) {
      try await enterForeground()
    } catch {
      // Nobody has asked: what came of it is in the session's state and activity.
    }
  }
}
