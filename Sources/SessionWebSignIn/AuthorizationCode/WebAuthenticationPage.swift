#if canImport(AuthenticationServices) && !os(watchOS) && !os(tvOS)
public import AuthenticationServices
import SessionCore

/// The system's page for logins: a sheet with the cookies of the system's browser.
///
/// It conforms to RFC 8252: the app sees neither the user's input nor the page's cookies. It
/// supports redirects to an address of the app's own scheme, and to an HTTPS address that the app
/// claims.
public struct WebAuthenticationPage: AuthorizationPage {
  private let anchor: @MainActor @Sendable () -> ASPresentationAnchor

  /// Creates a page that is shown over the window that `anchor` returns.
  public init(anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
    self.anchor = anchor
  }

  /// Shows the system's page until it is redirected.
  public func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
    try await Presentation(anchor).run(address, redirect, isPrivate)
  }
}

/// One presentation of the page, from its start to its end.
@MainActor
private final class Presentation: NSObject, ASWebAuthenticationPresentationContextProviding {
  private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
  private var session: ASWebAuthenticationSession?
  private var caller: CheckedContinuation<URL, any Error>?

  init(_ anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
    self.anchor = anchor
  }

  func run(_ address: URL, _ redirect: String, _ isPrivate: Bool) async throws -> URL {
    try Task.checkCancellation()
    guard let callback = callback(for: redirect) else { throw WebSignInProblem.viewFailed }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { caller in
        self.caller = caller
        let session = ASWebAuthenticationSession(url: address, callback: callback) {
          redirect, error in
          Task { @MainActor in self.end(redirect, error) }
        }
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isPrivate
        self.session = session
        if !session.start() { end(nil, WebSignInProblem.viewFailed) }
      }
    } onCancel: {
      Task { @MainActor in
        self.session?.cancel()
        self.end(nil, CancellationError())
      }
    }
  }

  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
    anchor()
  }

  private func callback(for redirect: String) -> ASWebAuthenticationSession.Callback? {
    guard let address = URL(string: redirect), let scheme = address.scheme else { return nil }
    guard scheme.lowercased() == "https" else { return .customScheme(scheme) }
    return address.host.map { .https(host: $0, path: address.path) }
  }

  private func end(_ redirect: URL?, _ error: (any Error)?) {
    guard let caller else { return }
    (self.caller, session) = (nil, nil)
    if let redirect {
      caller.resume(returning: redirect)
    } else {
      caller.resume(throwing: error ?? WebSignInProblem.cancelledByUser)
    }
  }
}
#endif
