import Foundation
import SessionCore
import SessionHTTP
import SessionKit
import SessionTestSupport
import SessionWebSignIn
import Synchronization

/// One line of standard output.
///
/// It contains no secret except addresses, which the browser must load.
struct Saying: Encodable {
  var what: String
  var address: String?
  var isHidden: Bool?
  var user: String?
  var error: String?
  var activity: String?
  var state: String?
  var events: [String]?
  var log: [String]?
  var violations: [String]?
  var codeUses: [Int]?
  var wrongPasswords: Int?
}

/// An identity provider and a session, which exchange lines with a browser.
final class SignInHost: Sendable {
  private struct State {
    var page: BrowserPage?
    var hidden: CheckedContinuation<URL?, Never>?
    var events: [String] = []
  }

  private let server: IdentityServer
  private let session: Session
  private let accounts = IdentityAccounts(keepsTokens: false, seed: .random(in: 0 ... .max))
  private let isObserved: Bool
  private let state = Mutex(State())
  private let output = Mutex(FileHandle.standardOutput)

  init(folder: String, isObserved: Bool) async throws {
    let ana = LoopbackIdentity.User(
      id: "o-1", name: "ana@school.test", password: "correct-horse-9")
    self.isObserved = isObserved
    server = try IdentityServer(
      LoopbackIdentity(users: [ana], seed: .random(in: 0 ... .max)))
    let configuration = SessionConfiguration(
      journal: folder + "/browser.journal", secrets: FileSecretStore(folder: folder + "/secrets"),
      preset: .b2c(server.userFlow, clientID: "app-1", scope: "openid offline_access"))
    session = try await Session.open(configuration)
  }

  func work(_ lines: AsyncStream<String>) async {
    let events = session.events
    Task {
      for try await event in events {
        state.withLock { $0.events.append("\(event.event.kind)") }
        say(Saying(what: "event", events: ["\(event.event.kind)"]))
      }
    }
    say(Saying(what: "ready", address: server.baseURL.absoluteString))
    for await line in lines {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      guard let verb = words.first else { continue }
      await serve(verb, Array(words.dropFirst()))
    }
    do { try await session.close() } catch {
      FileHandle.standardError.write(Data("it does not close: \(error)\n".utf8))
    }
    server.stop()
  }

  private func serve(_ verb: String, _ rest: [String]) async {
    switch verb {
    case "page": begin(verb, responseMode: rest.first)
    case "silently": begin(verb, responseMode: nil)
    case "saw": state.withLock { $0.page }?.saw(rest.first ?? "")
    case "hidden": hiddenWent(to: rest.first ?? "")
    case "hiddenPage": endHidden(nil)
    case "leaves": state.withLock { $0.page }?.leave()
    case "refuse":
      let refusal = LoopbackIdentity.Refusal.error(
        rest.first ?? "", description: rest.dropFirst().first)
      server.change { $0.refusal = refusal }
    case "malformed": server.change { $0.refusal = .malformed }
    case "clearError":
      await session.clearError()
      told("clearError")
    case "logout":
      do throws(SessionError) {
        try await session.logout()
        told(verb)
      } catch {
        told(verb, error: error)
      }
    case "server":
      let identity = server.identity
      say(
        Saying(
          what: verb, events: state.withLock { $0.events }, log: identity.log,
          violations: identity.violations, codeUses: identity.codes.values.map(\.uses),
          wrongPasswords: identity.wrongPasswords))
    default: say(Saying(what: "unknown", error: verb))
    }
  }

  /// Begins a sign-in, and prints its result.
  private func begin(_ verb: String, responseMode: String?) {
    let client = CodeGrant.Client(
      userFlow: server.userFlow, id: "app-1", scope: "openid offline_access",
      responseMode: responseMode)
    let provider = CodeFlowProvider<BrowserPage>(
      client, accounts: accounts, transport: URLSessionTransport()
    ) { [self] address, _ in await hidden(address) }
    let page = BrowserPage(isObserved: isObserved) { [self] in say($0) }
    state.withLock { $0.page = page }
    Task {
      do throws(SessionError) {
        let result =
          verb == "page"
          ? try await session.login(.provider(provider, in: page))
          : try await session.login(.silently(with: provider))
        told(verb, user: result.user)
      } catch {
        told(verb, error: error)
      }
    }
  }

  private func told(_ verb: String, user: UserProfile? = nil, error: SessionError? = nil) {
    var text = error.map { "\($0)" }
    if let problem = error?.underlyingError as? WebSignInProblem { text = "\(problem)" }
    var activity = "\(session.activity)"
    if case .failed = session.activity { activity = "failed" }
    say(
      Saying(
        what: "ended", address: verb, user: user.map { "\($0.id)" }, error: text,
        activity: activity, state: "\(session.state.kind)"))
  }

  // MARK: Without a visible page

  private func hidden(_ address: URL) async -> URL? {
    await withCheckedContinuation { waiter in
      state.withLock { $0.hidden = waiter }
      say(Saying(what: "open", address: address.absoluteString, isHidden: true))
    }
  }

  private func hiddenWent(to address: String) {
    guard address.hasPrefix("app://") else { return }
    endHidden(URL(string: address))
  }

  private func endHidden(_ url: URL?) {
    let waiter = state.withLock { state in
      defer { state.hidden = nil }
      return state.hidden
    }
    waiter?.resume(returning: url)
  }

  /// Writes a line with one call, so that lines do not mix.
  private func say(_ saying: Saying) {
    do {
      let line = try JSONEncoder().encode(saying) + Data("\n".utf8)
      output.withLock { $0.write(line) }
    } catch {
      FileHandle.standardError.write(Data("a line cannot be written: \(error)\n".utf8))
    }
  }
}
