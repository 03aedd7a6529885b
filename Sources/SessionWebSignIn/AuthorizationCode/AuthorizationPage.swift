public import Foundation
@_spi(Internals) import SessionCore

/// A browser or web view of the app that shows a server's login page.
///
/// `WebAuthenticationPage` is that of the system on Apple's systems. An app conforms to it for
/// another browser.
public protocol AuthorizationPage: Sendable {
  /// Shows an address, and returns the app's address to which the page redirects.
  ///
  /// - If the redirect reaches the app in another way, such as `onOpenURL`, pass it to
  ///   `Session.handle(_:)`. This function is then cancelled, and may return `nil` before.
  /// - If the user closes the page, throw `WebSignInProblem.cancelledByUser`.
  /// - If the task is cancelled, close the page and return. The next login waits for it, 10 seconds
  ///   at most.
  ///
  /// `isPrivate` asks for a page without the cookies of earlier logins, so that the server must ask
  /// the user.
  func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL?
}
