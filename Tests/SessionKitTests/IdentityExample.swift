import Foundation
import SessionKit
import SessionMessages
import SessionTestKit
import SessionTestSupport
import SessionWebSignIn
import Testing

/// An SDK that returns fixed tokens in the example.
enum SDK {
  static func silently() async throws -> IdentityTokens { throw WebSignInProblem.noAccount }
  static func interactively(asking isAsking: Bool) async throws -> IdentityTokens {
    FakeIdentity.tokens(isAsking ? 2 : 1)
  }
}

/// A web view on a sheet.
@MainActor
final class WebPage {
  var onAddress: (URL) -> Void = { _ in }
  func show() async throws {}
  func close() async {}
}

// PAGE begins
/// The identity SDK, in the words of a session.
struct Identity: IdentityProvider {
  func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens {
    try await SDK.silently()
  }

  func login(in view: Sheet, prompt: WebSignIn.Prompt) async throws -> IdentityTokens {
    // On the view, which is shown and observed by now; `.always` is the SDK's `prompt=login`.
    try await SDK.interactively(asking: prompt == .always)
  }

  func removeAccount(_ account: Identifier) async throws {}
}

/// The app's sheet with a web view in it.
@MainActor
final class Sheet: WebSignInView {
  private var page = WebPage()

  func make() async throws { page = WebPage() }

  func observe(with observer: RedirectObserver) async throws {
    // Of a WKWebView: keep observer.watch(view), and tell observer.see(_:) in the navigation delegate's
    // decidePolicyFor each address of the app's own scheme, which the view never goes to.
    page.onAddress = { observer.see($0) }
  }

  func present() async throws { try await page.show() }
  func dismiss() async { await page.close() }
}

@MainActor
func signIn(_ session: Session, _ sheet: Sheet) async -> String? {
  do throws(SessionError) {
    try await session.login(.provider(Identity(), in: sheet))  // silently, or on the page
    return nil
  } catch {
    switch error.underlyingError as? WebSignInProblem {
    case .forgottenPassword: return "show the page that sets a new password"
    case .cancelledByUser: return nil  // nothing failed; the page is gone
    default: return error.text(in: .english)
    }
  }
}
// PAGE ends

@Suite("The article's example of an identity provider")
struct IdentityExample {
  @MainActor
  @Test("WEB-5 the example compiles and runs")
  func run() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.http = AppPreset.b2c(bench.server.baseURL, clientID: "c", scope: "s").backend
    let session = try await Session.open(configuration)
    let words = await signIn(session, Sheet())
    #expect(words == nil && session.currentUser?.id == "o-1")
    try await session.close()
  }
}
