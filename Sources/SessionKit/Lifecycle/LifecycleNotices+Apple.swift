#if os(watchOS)
  import Dispatch
  import Foundation
  import WatchKit

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
  import Dispatch
  import Foundation
  import UIKit

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
  import AppKit
  import Foundation

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
