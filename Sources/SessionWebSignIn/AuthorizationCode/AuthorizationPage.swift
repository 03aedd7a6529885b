public import Foundation
@_spi(Internals) import SessionCore

/// A browser or web view of the app in which a server's login page is shown.
///
/// `WebAuthenticationPage` is the system's own on Apple's systems. An app conforms to it for another browser.
public protocol AuthorizationPage: Sendable {
  /// Shows an address, and returns the address of the app to which the page sends the browser back.
  ///
  /// - If the redirect reaches the app in another way, such as `onOpenURL`, hand it to `Session.handle(_:)`; this
  ///   function is cancelled then, and may return `nil` before.
  /// - If the user closes the page, throw `WebSignInProblem.cancelledByUser`.
  /// - If the task is cancelled, take the page down and return: the next login waits for it, 10 seconds at most.
  ///
  /// `isPrivate` asks for a page without the cookies of earlier logins, so that the server has to ask.
  func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL?
}
