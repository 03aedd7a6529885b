// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's WebKit that SessionWebSignIn uses, as its headers declare it.
@_exported import Foundation

@MainActor
open class WKWebsiteDataStore: NSObject {
  public class func `default`() -> WKWebsiteDataStore { WKWebsiteDataStore() }
  public class func nonPersistent() -> WKWebsiteDataStore { WKWebsiteDataStore() }
}

@MainActor
open class WKWebViewConfiguration: NSObject {
  public override nonisolated init() {}
  public var websiteDataStore: WKWebsiteDataStore {
    get { .default() }
    set {}
  }
  public var suppressesIncrementalRendering: Bool {
    get { false }
    set {}
  }
  public var allowsInlineMediaPlayback: Bool {
    get { false }
    set {}
  }
}

@MainActor
open class WKWebView: NSObject {
  public init(frame: CGRect, configuration: WKWebViewConfiguration) {}
  public var url: URL? { nil }
  public var allowsBackForwardNavigationGestures: Bool {
    get { false }
    set {}
  }
  public var isInspectable: Bool {
    get { false }
    set {}
  }
}

// Foundation has these on Apple's systems, for every class.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

public struct NSKeyValueObservedChange<Value> {
  public let newValue: Value?
}

public class NSKeyValueObservation: NSObject {}

extension WKWebView {
  public func observe<Value>(
    _ keyPath: KeyPath<WKWebView, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (WKWebView, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation { NSKeyValueObservation() }
}
