import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The article's example of calls")
struct CallsExample {
  private func show(_ text: Any) { #expect(!"\(text)".isEmpty) }

  @Test("INT-1 INT-2 CTX-1 the example compiles and runs")
  func run() async throws {
    let bench = try Bench()
    let (directory, base) = (bench.folder, bench.server.baseURL)
    let credentials = bench.credentials
    let role = Identifier(LoopbackContext.coordinator.roleID)
    let school = Identifier(LoopbackContext.coordinator.schoolID)
    // PAGE begins
    let session = try await Session.open(
      SessionConfiguration(
        directory: directory,
        backend: HTTPBackend.snakeCaseJSON(base),
        secrets: FileSecretStore(folder: directory.path)))
    try await session.login(credentials)

    let request = URLRequest(url: base.appending(path: "materials"))
    let (data, response) = try await session.data(for: request)  // with a good token
    show((data.count, response))

    let elsewhere = ContextTarget(role: role, school: school)
    if let context = try await session.switchContext(to: elsewhere) { show(context.role.name) }
    // PAGE ends
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(session.currentToken?.generation == Generation(2))
    try await session.close()
  }
}
