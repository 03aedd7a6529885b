@_spi(Internals) import SessionCore
import SessionKit
import SessionMessages
import SessionTestKit
import Testing

@Suite("Errors by a server's code")
struct ServerCodeTests {
  static let answers: [(LoopbackFault, SessionError)] = [
    (.status(503, retryAfter: 7), .server(status: 503, code: "SERVER_ERROR", retryAfter: 7_000)),
    (
      .status(503, code: "DB_UNAVAILABLE", retryAfter: 7),
      .databaseUnavailable(code: "DB_UNAVAILABLE", retryAfter: 7_000)
    ),
    (.status(500, code: "DB_TIMEOUT"), .databaseUnavailable(code: "DB_TIMEOUT", status: 500)),
    (.status(400, code: "DB_TIMEOUT"), .databaseUnavailable(code: "DB_TIMEOUT", status: 400)),
    (.status(429, retryAfter: 30), .rateLimited(retryAfter: 30_000, code: "SERVER_ERROR")),
    (
      .status(403, code: "RATE_LIMITED", retryAfter: 30),
      .rateLimited(retryAfter: 30_000, status: 403, code: "RATE_LIMITED")
    ),
    (.status(409, code: "CONFLICT"), .conflict(code: "CONFLICT")),
    (.status(400, code: "CONFLICT"), .conflict(code: "CONFLICT", status: 400)),
    (.status(409, code: "ALREADY_DELETED"), .alreadyDeleted()),
    (.status(404, code: "ALREADY_DELETED"), .alreadyDeleted(status: 404)),
  ]

  @Test(
    "LOG-3 LOG-7 each status and code gives the error in Specs/Errors.md, and logs out no user")
  func page() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let rows = SpecPage("Errors.md").rows(["status", "code", "Retry-After", "error"])
    #expect(rows.count > 10)
    func fault(_ row: [String]) throws -> LoopbackFault {
      .status(try #require(Int(row[0])), code: row[1], retryAfter: Int(row[2]))
    }
    for row in rows {
      bench.server.failNext(.login, with: try fault(row))
      let error = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
      #expect(error.failure?.name == row[3], "\(row)")
      if let wait = Int(row[2]) { #expect(error?.advice == .wait(.seconds(wait)), "\(row)") }
      #expect(session.state == .unauthenticated)
    }
    try await session.login(bench.credentials)
    for row in rows {
      bench.server.failNext(.switchContext, with: try fault(row))
      let error = await failure { () async throws(SessionError) in
        try await session.switchContext(to: bench.coordinator)
      }
      #expect(error.failure?.name == row[3], "\(row)")
      #expect(session.isAuthenticated, "\(row)")
    }
    try await session.close()
  }

  @Test("LOG-3 LOG-7 RATE_LIMITED, ALREADY_DELETED, CONFLICT and DB_* give their own errors")
  func codes() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    for (fault, expected) in Self.answers {
      bench.server.failNext(.login, with: fault)
      let error = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
      #expect(error == expected)
      #expect(session.state == .unauthenticated)
    }
    try await session.login(bench.credentials)
    for (fault, expected) in Self.answers {
      bench.server.failNext(.switchContext, with: fault)
      let error = await failure { () async throws(SessionError) in
        try await session.switchContext(to: bench.coordinator)
      }
      #expect(error == expected)
      #expect(session.isAuthenticated, "none of them is fatal")
    }
    try await session.close()
  }
}
