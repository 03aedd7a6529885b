// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's AppKit that SessionKit uses, as its headers declare it.
@_exported import Foundation

@MainActor
open class NSApplication: NSObject {
  public nonisolated class var didBecomeActiveNotification: NSNotification.Name {
    NSNotification.Name("")
  }
  public nonisolated class var didResignActiveNotification: NSNotification.Name {
    NSNotification.Name("")
  }
}

@MainActor
open class NSWindow: NSObject {}
