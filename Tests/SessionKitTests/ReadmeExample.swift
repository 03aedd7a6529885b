import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("The README's example")
struct ReadmeExample {
  @Test("it runs as it stands there")
  func example() async throws {
    let bench = try Bench()
    let (directory, api) = (bench.folder, bench.server.baseURL)
    let (email, password) = (LoopbackUser.sample.email, LoopbackUser.sample.password)
    var printed: [String] = []
    func print(_ text: String) { printed.append(text) }

    // README begins
    let session = try await Session.open(
      SessionConfiguration(
        directory: directory,
        backend: HTTPBackend.snakeCaseJSON(api),
        secrets: FileSecretStore(folder: directory.path)))

    let events = session.events  // nothing that happens from here on is missed
    try await session.login(.password(email, password))
    print(session.activeContext?.role.name ?? "no role")

    let token = try await session.accessToken()  // good: no request is made
    print("Bearer for the next call: \(token)")  // never shows the token itself
    try await session.refresh()  // a hundred callers would share one request

    print("\(try await session.logout())")
    try await session.close()

    for try await event in events {
      print("\(event.sequence) \(event.event.kind)")
    }
    // README ends

    #expect(printed.first == "teacher")
    #expect(
      printed.suffix(3).map { $0.split(separator: " ")[1] } == [
        "login", "refreshSucceeded", "logout",
      ])
    #expect(printed[1].hasPrefix("Bearer for the next call: tok#1, expires "))
    #expect(printed[2] == "logged out")
  }
}
