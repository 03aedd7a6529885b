// watchOS and tvOS have no web view.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
import Foundation
public import WebKit

extension WKWebView {
  /// Returns a web view for a sign-in.
  ///
  /// `Specs/WebSignIn.md` lists the settings.
  ///
  /// - Requirement: WEB-7
  @MainActor
  public static func forLogin(_ settings: WebViewSettings = .login) -> WKWebView {
    let configuration = WKWebViewConfiguration()
    configuration.websiteDataStore = settings.keepsCookies ? .default() : .nonPersistent()
    configuration.suppressesIncrementalRendering = !settings.drawsIncrementally
    #if canImport(UIKit)
    configuration.allowsInlineMediaPlayback = settings.playsMediaInline
    #endif
    let view = WKWebView(frame: .zero, configuration: configuration)
    view.allowsBackForwardNavigationGestures = settings.swipesBack
    view.isInspectable = settings.isInspectable
    return view
  }
}

extension RedirectObserver {
  /// Observes the addresses that a web view navigates to.
  ///
  /// The observation ends with the returned value or the view.
  ///
  /// It does not include addresses that the view's navigation delegate rejects, such as one of
  /// the app's own scheme. If the app is the delegate, it reports them with `see(_:)`. If the SDK
  /// is the delegate, the SDK's error states them.
  @MainActor
  public func watch(_ view: WKWebView) -> NSKeyValueObservation {
    view.observe(\.url, options: [.initial, .new]) { [weak self] _, change in
      if let address = change.newValue ?? nil { self?.see(address) }
    }
  }
}
#endif
