/// How a web view for a sign-in is set up: a value, which `WKWebView.forLogin()` applies.
///
/// - Requirement: WEB-7
public struct WebViewSettings: Hashable, Sendable {
  /// Whether the provider's cookies outlive the view, so that the next sign-in may be silent.
  public var keepsCookies = true
  /// Whether a page is drawn before it is whole.
  public var drawsIncrementally = false
  /// Whether media play within the page; on systems that would fill the screen with them.
  public var playsMediaInline = true
  /// Whether a swipe goes back into a page that was sent already.
  public var swipesBack = false
  /// Whether a web inspector may look into the view, where passwords are typed.
  public var isInspectable: Bool

  /// The settings of a sign-in; inspectable in debug builds only.
  public init(isDebug: Bool) {
    isInspectable = isDebug
  }

  /// The settings for how this library was built.
  public static var login: WebViewSettings {
    #if DEBUG
      WebViewSettings(isDebug: true)
    #else
      WebViewSettings(isDebug: false)
    #endif
  }
}
