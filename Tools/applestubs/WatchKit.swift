// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's WatchKit that SessionKit uses, as its headers declare it.
@_exported import UIKit

/// Its notification names are isolated like the class: this is the strictest assumption for callers.
@MainActor
open class WKApplication: NSObject {
  public class var willEnterForegroundNotification: NSNotification.Name {
    NSNotification.Name("")
  }
  public class var didEnterBackgroundNotification: NSNotification.Name {
    NSNotification.Name("")
  }
}
