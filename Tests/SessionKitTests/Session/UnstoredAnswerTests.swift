import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionMessages
import SessionTestKit
import Synchronization
import Testing

/// A response that cannot be stored, and a close of its session, with real files and a strict
/// server.
@Suite("A session: a close while a response waits to be stored", .timeLimit(.minutes(10)))
struct UnstoredAnswerTests {
  private func bench() throws -> (Bench, FailingWrites) {
    let bench = try Bench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    return (bench, FailingWrites(folder: bench.secrets))
  }

  /// The response to a refresh has arrived, and the token item could not be written.
  private func stuck(
    failing times: Int, with error: SecretStoreError = FailingWrites.ioError
  ) async throws -> (Bench, FailingWrites, Session) {
    let (bench, writes) = try bench()
    let session = try await bench.signedIn(store: writes.store)
    writes.fail(times, with: error)
    let refused = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(refused.isExactly(.notStoredYet(because: .secrets(error))))
    return (bench, writes, session)
  }

  @Test("REF-11 a close throws what was lost, where and why, and the journal records it")
  func lostAtClose() async throws {
    let (bench, writes, session) = try await stuck(failing: .max)
    let error = await failure { () async throws(SessionError) in try await session.close() }
    #expect(error.isExactly(.answerDropped(because: .secrets(FailingWrites.ioError))))
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("secrets/token") && text.contains("errno 5") && text.contains("lost"))
    let names = try bench.records().map(\.name)
    #expect(
      names.suffix(5)
        == ["requestSent", "storageFailed", "answerDropped", "refreshFailed", "closed"])
    // The session is closed: a second close does nothing, and other calls are refused.
    try await session.close()
    #expect(
      await failure { () async throws(SessionError) in try await session.refresh() } == .closed)
    writes.fail(0)
    // The next opening knows that the token may have been used, and asks.
    let again = try await bench.open(store: writes.store)
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(500))
    await eventually("the server's refusal") { again.state.kind != .authenticated }
    #expect(bench.server.calls.contains { $0.code == "TOKEN_REUSED" })
    try await again.close()
  }

  /// The causes that can prevent the storing of a response, and a word of each message.
  static let causes: [(SessionError, String)] = [
    (.secrets(.noSpace(item: .token, place: "p")), "no space"),
    (.secrets(FailingWrites.ioError), "errno 5"),
    (.secrets(.notWritable(item: .token, place: "p")), "denies access"),
    (.secrets(.unavailable(item: .token, place: "p")), "Unlock"),
    (.journal(.busy(path: "p", waited: 5_000)), "lock"),
    (.journal(.io(path: "p", operation: "write", code: 5)), "errno 5"),
    (.journal(.diskFull(path: "p")), "free some space"),
  ]

  @Test("REF-11 RES-6 an error about an unstored response names its real cause")
  func realCause() {
    for (cause, word) in Self.causes {
      for error in [SessionError.notStoredYet(because: cause), .answerDropped(because: cause)] {
        #expect("\(error)".localizedCaseInsensitiveContains(word), "\(error)")
        #expect("\(error)".contains("\(cause)"))
        let isFull = cause.message == .noSpace
        for (language, space) in [
          (SessionLanguage.english, "space"), (.spanish, "espacio"), (.portuguese, "espaço"),
        ] {
          #expect(
            error.text(in: language).localizedCaseInsensitiveContains(space) == isFull,
            "\(error.text(in: language))")
        }
      }
    }
  }
}

/// Secrets in files, with a token item that cannot be written for some time.
private final class FailingWrites: Sendable {
  static let ioError = SecretStoreError.failed(
    item: .token, place: "secrets/token", operation: "write", code: 5)

  private let folder: String
  private let failures = Mutex((left: 0, error: FailingWrites.ioError))

  init(folder: String) { self.folder = folder }

  func fail(_ times: Int, with error: SecretStoreError = FailingWrites.ioError) {
    failures.withLock { $0 = (times, error) }
  }

  var store: InterceptedStore {
    InterceptedStore(FileSecretStore(folder: folder)) {
      [self] (operation, item) throws(SecretStoreError) in try intercept(operation, item)
    }
  }

  private func intercept(
    _ operation: InterceptedStore.Operation, _ item: SecretItem
  ) throws(SecretStoreError) {
    let failure = failures.withLock { failures -> SecretStoreError? in
      guard operation == .write, item == .token, failures.left > 0 else { return nil }
      failures.left -= 1
      return failures.error
    }
    if let failure { throw failure }
  }
}
