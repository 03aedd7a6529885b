// watchOS and tvOS have no web view.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
  import Foundation
  public import WebKit

  extension WKWebView {
    /// A web view for a sign-in; `Specs/WebSignIn.md` has the settings.
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
    /// Sees the addresses that a web view goes to, from now on; ends with what is returned, or with the view.
    ///
    /// An address that the view's navigation delegate does not let it go to, such as one of the app's own
    /// scheme, is not among them: an app that is the delegate tells it with `see(_:)`, one whose SDK is the
    /// delegate learns of it from the SDK's error.
    @MainActor
    public func watch(_ view: WKWebView) -> NSKeyValueObservation {
      view.observe(\.url, options: [.initial, .new]) { [weak self] _, change in
        if let address = change.newValue ?? nil { self?.see(address) }
      }
    }
  }
#endif
