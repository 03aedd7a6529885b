public import Foundation
import SessionCore
import Synchronization

#if os(watchOS)
import Dispatch
import WatchKit
#elseif canImport(UIKit)
import Dispatch
import UIKit
#elseif canImport(AppKit)
import AppKit
#endif

/// The notices that an app comes to the foreground or goes to the background, and a way to get time
/// there.
public struct LifecycleNotices: Sendable {
  /// Posted before or when the app comes to the foreground.
  public var foreground: Notification.Name
  /// Posted when the app has gone to the background.
  ///
  /// The system may suspend it there.
  public var background: Notification.Name
  /// Posted when protected files and items become readable; `nil` if the system has no such notice.
  ///
  /// - Requirement: RES-3
  public var unlocked: Notification.Name?
  /// Performs work that should be finished before the system suspends the app.
  public var finish: @Sendable (_ work: @escaping @Sendable () async -> Void) -> Void

  /// Creates a set of notices.
  ///
  /// By default, `finish` runs the work in an ordinary task.
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

/// Informs a session when its app comes to the foreground and goes to the background.
///
/// - In the foreground, an expired token is refreshed.
/// - After the device is unlocked, items that could not be read before are read.
/// - In the background, a request that may return the only token that the server accepts gets time
///   to end.
///
/// It works as long as this object lives, and it holds the session.
///
/// - Requirement: REF-2
public final class SessionLifecycle: Sendable {
  private struct Registration {
    var tokens: [any NSObjectProtocol] = []
  }

  private let center: NotificationCenter
  private let registration = Mutex(Registration())

  /// Creates an object that listens to the notices for a session.
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

  /// Creates an object that lets an opening try again.
  ///
  /// It does so when the app comes to the foreground and when the device is unlocked.
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
  /// Handles that the app has come to the foreground, which counts as a use.
  ///
  /// It takes these steps:
  ///
  /// - It reads items that could not be read before.
  /// - It reads what other processes appended.
  /// - It ends a session that was unused for too long.
  /// - It gets a newer token if the current one has expired.
  ///
  /// It throws the errors of `refresh()`, except that a session without a user is no error.
  ///
  /// - Requirement: REF-2, POL-5, RES-3
  public func enterForeground() async throws(SessionError) {
    await retry()
    try await use()
    _ = try await engine.ask { .foreground($0) }
  }

  /// Returns when no request is in progress that may change the token, or when the session object
  /// is closed.
  public func untilSettled() async {
    for await status in states where !status.isBusy { return }
  }

  fileprivate func cameToForeground() async {
    do throws(SessionError) {
      try await enterForeground()
    } catch {
      // No caller waits. The session's state and activity show the result.
    }
  }
}

#if os(watchOS)
extension LifecycleNotices {
  /// The notices of WatchKit, which provides them on the main actor.
  ///
  /// The system is asked for time to finish.
  ///
  /// watchOS has no notice that the device was unlocked. So the next change to the foreground
  /// reads what could not be read.
  ///
  /// - Requirement: REF-2
  @MainActor
  public static var app: LifecycleNotices {
    LifecycleNotices(
      foreground: WKApplication.willEnterForegroundNotification,
      background: WKApplication.didEnterBackgroundNotification,
      finish: { ExpiringActivity.perform($0) })
  }
}
#elseif canImport(UIKit)
extension LifecycleNotices {
  /// The notices of UIKit.
  ///
  /// The system is asked for time to finish, which also works in an extension.
  ///
  /// - Requirement: REF-2, RES-3
  public static var app: LifecycleNotices {
    LifecycleNotices(
      foreground: UIApplication.willEnterForegroundNotification,
      background: UIApplication.didEnterBackgroundNotification,
      unlocked: UIApplication.protectedDataDidBecomeAvailableNotification,
      finish: { ExpiringActivity.perform($0) })
  }
}
#elseif canImport(AppKit)
extension LifecycleNotices {
  /// The notices of AppKit.
  ///
  /// Its apps are not suspended during a request.
  ///
  /// - Requirement: REF-2
  public static var app: LifecycleNotices {
    LifecycleNotices(
      foreground: NSApplication.didBecomeActiveNotification,
      background: NSApplication.didResignActiveNotification)
  }
}
#endif

#if os(watchOS) || canImport(UIKit)
/// Performs work with time that the system grants in the background.
private enum ExpiringActivity {
  static func perform(_ work: @escaping @Sendable () async -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task {
      await work()
      end.signal()
    }
    // The block is called on a thread that may block, and again on another thread when the time
    // is over.
    ProcessInfo.processInfo.performExpiringActivity(withReason: "a session's request") { isOver in
      if isOver { end.signal() } else { end.wait() }
    }
  }
}
#endif
