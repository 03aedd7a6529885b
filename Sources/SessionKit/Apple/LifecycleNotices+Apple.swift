#if os(watchOS)
  import Dispatch
  import Foundation
  import WatchKit

  extension LifecycleNotices {
    /// Those of WatchKit, which has them on the main actor; the system is asked for the time to finish.
    ///
    /// watchOS has no notice that the device was unlocked: the app's next foreground reads what could not
    /// be read.
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
    /// Those of UIKit; the system is asked for the time to finish, which also works in an extension.
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
    /// Those of AppKit, whose apps are not suspended with a request under way.
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
  /// Work that the system gives time to in the background.
  private enum ExpiringActivity {
    static func perform(_ work: @escaping @Sendable () async -> Void) {
      let end = DispatchSemaphore(value: 0)
      Task {
        await work()
        end.signal()
      }
      // Called on a thread that may wait, and again on another when the time is over.
      ProcessInfo.processInfo.performExpiringActivity(withReason: "a session's request") { isOver in
        if isOver { end.signal() } else { end.wait() }
      }
    }
  }
#endif
