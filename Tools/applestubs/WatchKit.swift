// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's WatchKit that SessionKit uses, as its headers declare it.
@_exported import UIKit

/// Its notices are isolated as it is, which asks the most of the caller.
@MainActor
open class WKApplication: NSObject {
  public class var willEnterForegroundNotification: NSNotification.Name {
    NSNotification.Name("")
  }
  public class var didEnterBackgroundNotification: NSNotification.Name {
    NSNotification.Name("")
  }
}
