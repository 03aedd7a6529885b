#if canImport(UIKit) && !os(watchOS)
  import Dispatch
  import Foundation
  import UIKit

  extension LifecycleNotices {
    /// Those of UIKit; the time to finish is asked of the system, which also works in an extension.
    public static var app: LifecycleNotices {
      LifecycleNotices(
        foreground: UIApplication.willEnterForegroundNotification,
        background: UIApplication.didEnterBackgroundNotification,
        unlocked: UIApplication.protectedDataDidBecomeAvailableNotification,
        finish: { work in
          let end = DispatchSemaphore(value: 0)
          Task {
            await work()
            end.signal()
          }
          // Called on a thread that may wait, and once more on another when the time is over.
          ProcessInfo.processInfo.performExpiringActivity(withReason: "a session's request") {
            isOver in
            if isOver { end.signal() } else { end.wait() }
          }
        })
    }
  }
#elseif canImport(AppKit)
  import AppKit
  import Foundation

  extension LifecycleNotices {
    /// Those of AppKit, whose apps are not suspended with a request under way.
    public static var app: LifecycleNotices {
      LifecycleNotices(
        foreground: NSApplication.didBecomeActiveNotification,
        background: NSApplication.didResignActiveNotification)
    }
  }
#endif
