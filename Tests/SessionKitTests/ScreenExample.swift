@_spi(Internals) import SessionCore
import SessionKit
import SessionMessages
import SessionTestKit
import Testing

@MainActor
@Suite("The article's example of screens and logs")
struct ScreenExample {
  private func show(_ text: Any) { #expect(!"\(text)".isEmpty) }

  @Test("LOG-8 STA-7 the example compiles and runs")
  func run() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    bench.server.failNext(.login, with: .status(429, retryAfter: 30))
    let credentials = bench.credentials
    // PAGE begins
    let observed = ObservedSession(session)  // @Observable, on the main actor: for SwiftUI
    let states = session.states  // the current one, then always the newest
    let reports = session.reports  // for logs and metrics: no secret, no name of a user
    do throws(SessionError) {
      try await session.login(credentials)
    } catch {
      show(error.text(in: .spanish))  // Ha habido demasiados intentos. Vuelve a…
      show(error.advice)  // .wait(.seconds(30))
    }
    try await session.login(credentials)
    try await session.close()
    for await status in states { show(status.state) }
    for try await report in reports { show((report.name, report.labels)) }
    // PAGE ends
    #expect(observed.session.isAuthenticated)
  }
}
