/// The settings of a web view for a sign-in, which `WKWebView.forLogin()` applies.
///
/// - Requirement: WEB-7
public struct WebViewSettings: Hashable, Sendable {
  /// Whether the provider's cookies are kept after the view is closed, so that the next sign-in may
  /// be silent.
  public var keepsCookies = true
  /// Whether a page is drawn before it is complete.
  public var drawsIncrementally = false
  /// Whether media play within the page, on systems that would otherwise show them on the full
  /// screen.
  public var playsMediaInline = true
  /// Whether a swipe returns to a page that was already submitted.
  public var swipesBack = false
  /// Whether a web inspector can examine the view, in which users type passwords.
  public var isInspectable: Bool

  /// Creates the settings of a sign-in.
  ///
  /// The view can be inspected in debug builds only.
  public init(isDebug: Bool) {
    isInspectable = isDebug
  }

  /// The settings for the build configuration of this library.
  public static var login: WebViewSettings {
    #if DEBUG
      WebViewSettings(isDebug: true)
    #else
      WebViewSettings(isDebug: false)
    #endif
  }
}
