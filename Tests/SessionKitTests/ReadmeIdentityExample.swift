import Foundation
import SessionKit
import SessionTestKit
import Testing

/// Stands for an SDK's answer in the example.
enum SDK {
  static func silently() async throws -> IdentityTokens { throw WebSignInProblem.noAccount }
  static func interactively() async throws -> IdentityTokens { FakeIdentity.tokens(1) }
}

/// Stands for the app's sheet.
@MainActor
final class Sheet: WebSignInView {
  func make() async throws {}
  func observe(with observer: RedirectObserver) async throws {}
  func present() async throws {}
  func dismiss() async {}
}

// README begins
/// The identity SDK, in the words of a session.
struct Identity: IdentityProvider {
  func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens {
    try await SDK.silently()
  }

  func signIn(in view: Sheet) async throws -> IdentityTokens {
    try await SDK.interactively()  // on the view, which is shown and observed by now
  }

  func removeAccount(_ account: Identifier) async throws {}
}

@MainActor
func signIn(_ session: Session, _ sheet: Sheet) async -> String? {
  do throws(SessionError) {
    try await session.signIn(with: Identity(), in: sheet)  // silently, or on the page
    return nil
  } catch .webSignIn(.forgottenPassword) {
    return "show the page that sets a new password"
  } catch .webSignIn(.cancelledByUser) {
    return nil  // nothing failed; the page is gone
  } catch {
    return error.text(in: .english)
  }
}
// README ends

@Suite("The README's example of an identity provider")
struct ReadmeIdentityExample {
  @MainActor
  @Test("WEB-5 compiles and runs")
  func run() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.wire = SessionPreset.b2c(bench.server.baseURL, clientID: "c", scope: "s").wire
    let session = try await Session.open(configuration)
    let words = await signIn(session, Sheet())
    #expect(words == nil && session.currentUser?.id == "o-1")
    try await session.close()
  }
}
