import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("Answers that name somebody else")
struct OtherUserTests {
  /// A session of `u-1`, and a service that answers as if `u-2` had asked.
  private func confused() async throws -> (CallBench, Session) {
    let bench = try CallBench()
    let session = try await bench.signedIn(.keeping)
    bench.service.signIn(as: "u-2")
    return (bench, session)
  }

  @Test(
    "REF-5 STA-6 a refresh that brings another user's token ends the session, and it is given back")
  func refresh() async throws {
    let (bench, session) = try await confused()
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error == .expired)
    guard case .expired(let expired) = session.state else {
      Issue.record("\(session.state)")
      return
    }
    #expect(expired.user == "u-1")
    #expect(session.currentToken == nil)
    await eventually("it is given back") {
      bench.service.book.withLock { book in
        book.requests.contains { $0.header("Authorization") == "Bearer A2" }
      }
    }
    try await session.close()
  }

  @Test("CTX-1 STA-6 a switch that brings another user's token changes nothing")
  func change() async throws {
    let (_, session) = try await confused()
    let target = ContextTarget(role: "r-2")
    let error = await failure { () async throws(SessionError) in
      try await session.switchContext(to: target)
    }
    #expect(error != nil)
    #expect(session.state.user == "u-1")
    #expect(session.currentToken?.generation == Generation(1))
    #expect(session.activeContext == nil || session.activeContext?.role.id != "r-2")
    try await session.close()
  }
}
