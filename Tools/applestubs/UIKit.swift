// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's UIKit that SessionKit uses, as its headers declare it.
@_exported import Foundation

// watchOS has the module, but not UIApplication.
#if !SYSTEM_watchOS
@MainActor
open class UIApplication: NSObject {
  public nonisolated class var willEnterForegroundNotification: NSNotification.Name {
    NSNotification.Name("")
  }
  public nonisolated class var didEnterBackgroundNotification: NSNotification.Name {
    NSNotification.Name("")
  }
  public nonisolated class var protectedDataDidBecomeAvailableNotification: NSNotification.Name {
    NSNotification.Name("")
  }
}
#endif

// Foundation has it on the systems that have UIKit.
extension ProcessInfo {
  public func performExpiringActivity(
    withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
  ) {}
}

@MainActor
open class UIWindow: NSObject {}
