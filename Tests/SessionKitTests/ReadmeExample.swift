// README begins
import Foundation
import SessionHTTP
import SessionKit
// README ends
import SessionTestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The README's example")
struct ReadmeExample {
  /// Whether `service` stores the secrets in files of the test.
  ///
  /// A test does not write to a real keychain.
  private static var hasFiles: Bool {
    #if canImport(Security)
    false
    #else
    true
    #endif
  }

  @Test("the example runs as it is shown", .enabled(if: hasFiles))
  func example() async throws {
    let bench = try Bench()
    let (directory, api) = (bench.folder, bench.server.baseURL)
    let (email, password) = (LoopbackUser.sample.email, LoopbackUser.sample.password)
    var printed: [String] = []
    func print(_ text: String) { printed.append(text) }

    // README begins
    var backend = HTTPBackend(baseURL: api)
    backend.login = .post("auth/login")
    backend.refresh = .post("auth/refresh", refreshToken: .member("refresh_token"))
    backend.revocation = .post(
      "auth/logout", accessToken: .bearer, refreshToken: .member("refresh_token"))

    let session = try await Session.open(
      SessionConfiguration(directory: directory, backend: backend, service: "com.example.notes"))

    let events = session.events  // nothing that happens from here on is missed
    try await session.login(.password(email, password))
    print("user \(session.currentUser?.id ?? "unknown")")

    let request = URLRequest(url: api.appending(path: "materials"))
    let (data, _) = try await session.data(for: request)  // with a good token
    print("\(data.count) bytes")
    try await session.refresh()  // a hundred callers would share one request

    print("\(try await session.logout())")
    try await session.close()

    for try await event in events {
      print("\(event.sequence) \(event.event.kind)")
    }
    // README ends

    #expect(printed.first == "user \(LoopbackUser.sample.id)")
    #expect(
      printed.suffix(3).map { $0.split(separator: " ")[1] } == [
        "login", "refreshSucceeded", "logout",
      ])
    #expect(printed[1].hasSuffix(" bytes") && data.count > 2)
    #expect(printed[2] == "logged out")
  }
}
