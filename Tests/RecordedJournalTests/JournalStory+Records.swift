import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension JournalStory {
  /// Records that ended nothing, selected by their place.
  static let records: [JournalStory] = [
    JournalStory(.switchRefused, "a switch to a role of somebody else", asks: "requestEnded") {
      stage in
      let session = try await stage.signedIn()
      await stage.fails { () async throws(SessionError) in
        try await session.switchContext(
          to: ContextTarget(role: "2c5ea4c0-4067-4b1e-9a50-000000000009", school: "nowhere"))
      }
      try await session.close()
    },
    JournalStory(.switchLost, "a switch whose reply is cut off", asks: "requestEnded") { stage in
      let session = try await stage.signedIn()
      stage.server.failNext(.switchContext, with: .dropConnection(.afterActing))
      await stage.fails { () async throws(SessionError) in
        let context = LoopbackContext.coordinator
        return try await session.switchContext(
          to: ContextTarget(role: Identifier(context.roleID), school: Identifier(context.schoolID)))
      }
      await eventually("the refresh behind it") {
        session.currentToken?.generation == Generation(2)
      }
      try await session.close()
    },
    JournalStory(
      .notRevoked, "the server is gone when the user logs out", asks: "revocationSettled"
    ) { stage in
      let session = try await stage.signedIn()
      stage.server.stop()
      try await session.logout()
      try await session.close()
    },
    JournalStory(.revocationDone, "the server is told of a logout", asks: "revocationSettled") {
      stage in
      let session = try await stage.signedIn()
      try await session.logout()
      try await session.close()
    },
    JournalStory(.refreshFailed, "a refresh fails, the next one succeeds", asks: "refreshFailed") {
      stage in
      let session = try await stage.signedIn()
      stage.server.failNext(.refresh, with: .status(503))
      await stage.refreshInVain(session)
      try await session.refresh()
      try await session.close()
    },
    JournalStory(
      .tokenRecovered, "the journal ends before the event of a stored token", asks: "tokenRecovered"
    ) { stage in
      let session = try await stage.signedIn()
      try await session.refresh()
      try await session.close()
      try stage.cutJournal(before: "refreshSucceeded")
      try await stage.open().close()
    },
    JournalStory(.tailCut, "the journal ends in the middle of a record", asks: "tailCut") { stage in
      let session = try await stage.signedIn()
      try await session.refresh()
      try await session.close()
      try stage.cutJournal(before: "refreshSucceeded", plus: 21)
      try await stage.open().close()
    },
    JournalStory(
      .itemUnreadable, "the user item, which nobody needs, is overwritten", asks: "itemUnreadable"
    ) { stage in
      try await stage.signedIn().close()
      try Data("not an item".utf8).write(to: stage.secret("user"))
      try await stage.open().close()
    },
    JournalStory(.storageFailed, "a token cannot be stored for a while", asks: "storageFailed") {
      stage in
      let session = try await stage.signedIn()
      let obstacle = stage.secret("token.new")
      try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
      await stage.fails { () async throws(SessionError) in try await session.refresh() }
      try FileManager.default.removeItem(at: obstacle)
      stage.clock.advance(by: .seconds(6))
      await eventually("the token that was not stored") {
        session.state.token?.generation == Generation(2)
      }
      try await session.close()
    },
    JournalStory(.leftoversWiped, "the token item comes back after a logout", asks: "secretsWiped")
    { stage in
      let session = try await stage.signedIn()
      try stage.copy("secrets", to: "old.secrets")
      try await session.logout()
      try await session.close()
      try stage.copy("old.secrets", to: "secrets")
      try await stage.open().close()
    },
    JournalStory(
      .journalContinued, "the journal is damaged, and the app goes on with a new one",
      asks: "continued"
    ) { stage in
      let session = try await stage.signedIn()
      try await session.refresh()
      try await session.close()
      let records = try stage.records()
      var bytes = try Data(contentsOf: URL(filePath: stage.journal))
      bytes[Int(try #require(records.dropFirst().first).offset) + 33] ^= 0x10
      try bytes.write(to: URL(filePath: stage.journal))
      var configuration = stage.configuration(.story)
      configuration.policy.recovery.unusableJournal = .setAside
      try await Session.open(configuration).close()
    },
  ]
}

extension JournalStory {
  /// Sessions that have not ended, and journals without one.
  static let still: [JournalStory] = [
    JournalStory(.stillOffline, "the server is gone, and the token's life ends") { stage in
      let session = try await stage.signedIn()
      stage.server.stop()
      await stage.refreshInVain(session, times: 2)
      stage.clock.advance(by: .seconds(7_200))
      await stage.refreshInVain(session)
      try await session.close()
    },
    JournalStory(.stillIntercepted, "a captive portal answers the refresh with a page") { stage in
      let session = try await stage.signedIn()
      stage.server.failNext(.refresh, with: .html, times: 2)
      await stage.refreshInVain(session, times: 2)
      try await session.close()
    },
    JournalStory(.stillServerFailing, "the server fails; the policy keeps the user signed in") {
      stage in
      let session = try await stage.signedIn(.keeping)
      stage.server.failNext(.refresh, with: .status(503, retryAfter: 20), times: 4)
      await stage.refreshInVain(session, times: 4)
      try await session.close()
    }, still(.stillRefused, .status(409, code: "DEVICE_NOT_ALLOWED")),
    still(.stillSignInDemanded, .status(400, code: "interaction_required")),
    still(.stillAppRefused, .status(401, code: "invalid_client")),
    still(.stillEndpointMissing, .status(404, code: "NOT_FOUND")),
    still(.stillUnreadable, .brokenJSON),
    still(
      .stillBlocked,
      .body(Array("Forbidden by policy".utf8), contentType: "text/plain", status: 403)),
    JournalStory(.stillErrorPage, "a gateway answers the refresh with a page and status 502") {
      stage in
      let session = try await stage.signedIn()
      let page = LoopbackFault.body(
        Array("<!doctype html><title>502 Bad Gateway</title>".utf8), contentType: "text/html",
        status: 502)
      stage.server.failNext(.refresh, with: page, times: 2)
      await stage.refreshInVain(session, times: 2)
      try await session.close()
    },
    JournalStory(.stillSecretsLocked, "by hand: a device that was not unlocked yet") { stage in
      try await stage.signedIn(.keeping).close()
      let identity = ProcessIdentity(opening: "b", boot: "b", namespace: nil, start: 1)
      let failure = RequestFailure(kind: .secretsUnavailable)
      let time = stage.clock.now().time
      try stage.append([
        .note(.opened(.init(process: 7, boot: "b", uptime: 1, identity: identity, platform: .iOS)))
      ])
      try stage.append([
        .note(
          .requestSent(
            .init(
              kind: .refresh, generation: Generation(1), trigger: .launch, attempt: 1, process: 7,
              deadline: time.advanced(by: 6_000), identity: identity)))
      ])
      let request = try #require(try stage.records().last).record.sequence
      try stage.append([.failed(failure, 1, request, retryAt: time.advanced(by: 60_000), .launch)])
    },
    JournalStory(.stillSignedIn, "sign in, refresh, close") { stage in
      let session = try await stage.signedIn()
      try await session.refresh()
      try await session.close()
    },
    JournalStory(.stillCallNeedsUser, "a call is refused with insufficient_user_authentication") {
      stage in
      let session = try await stage.signedIn()
      stage.server.failNext(
        .materials,
        with: .challenge(#"Bearer error="insufficient_user_authentication", max_age=300"#))
      let call = URLRequest(url: stage.server.baseURL.appending(path: "materials"))
      await stage.fails { () async throws(SessionError) in try await session.data(for: call) }
      try await session.close()
    },
    JournalStory(.stillLocked, "the app locks, and a refresh is refused") { stage in
      let session = try await stage.signedIn()
      try await session.lock()
      await stage.fails { () async throws(SessionError) in try await session.refresh() }
      try await session.close()
    },
    JournalStory(.neverSignedIn, "open, a wrong password, close") { stage in
      let session = try await stage.open()
      stage.server.failNext(.login, with: .status(401))
      await stage.fails { () async throws(SessionError) in try await session.login(.sample) }
      try await session.close()
    },
    JournalStory(.endedBefore, "a logout, and the journal is compacted behind it") { stage in
      let session = try await stage.signedIn()
      try await session.logout()
      try await session.close()
      try await stage.open().close()
      let last = try #require(try stage.records().last?.record.sequence)
      let journal = try Journal.open(at: stage.journal)
      _ = try journal.compact(keepingFrom: last, summary: SnapshotSummary())
      try journal.close()
    },
    JournalStory(.journalReplaced, "the journal is deleted, the secrets are not") { stage in
      try await stage.signedIn().close()
      try FileManager.default.removeItem(atPath: stage.journal)
      try await stage.openMissing().close()
      stage.clock.advance(by: .milliseconds(AbsenceDoubt.patience))
      try await stage.open().close()
    },
  ]

  /// Each refresh fails in the same way, and the policy keeps the user signed in.
  private static func still(_ cause: Cause, _ fault: LoopbackFault) -> JournalStory {
    JournalStory(cause, "each refresh is answered: \(fault)") { stage in
      let session = try await stage.signedIn(.keeping)
      stage.server.failNext(.refresh, with: fault, times: 4)
      await stage.refreshInVain(session, times: 4)
      try await session.close()
    }
  }
}

extension JournalStory {
  /// Stored items that are missing, changed, older or newer than they should be.
  static let storage: [JournalStory] = [
    JournalStory(
      .answerNotStored,
      "a strict server rotates, the token item cannot be written, the app closes; the next opening is refused"
    ) { stage in
      stage.server.settings.update { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
      let store = BrokenStore(folder: stage.secrets)
      let session = try await stage.signedIn(.story, store)
      store.breakTokenItem(true)
      await stage.refreshInVain(session)
      await stage.fails { () async throws(SessionError) in try await session.close() }
      store.breakTokenItem(false)
      stage.clock.advance(by: .seconds(60))
      let again = try await stage.open(.story, store)
      await stage.endLaunchPause()
      await eventually("the refusal") { again.state.kind != .authenticated }
      try await again.close()
    },
    JournalStory(.stillStoreFailing, "the token item cannot be written, and the app closes") {
      stage in
      let store = BrokenStore(folder: stage.secrets)
      let session = try await stage.signedIn(.keeping, store)
      store.breakTokenItem(true)
      await stage.refreshInVain(session)
      await stage.fails { () async throws(SessionError) in try await session.close() }
    },
    JournalStory(.stillAccessRefused, "by hand: the system refuses to read the token item") {
      stage in
      try await stage.signedIn(.keeping).close()
      try stage.append([
        .note(.storageFailed(.init(item: .token, operation: .read, cause: .refused, number: 13)))
      ])
    },
    JournalStory(.secretsMissing, "the token item is removed while the app is closed") { stage in
      try await stage.signedIn().close()
      try FileManager.default.removeItem(at: stage.secret("token"))
      let session = try await stage.open()
      for pause in [1_000, 3_000] as [Int64] {
        stage.clock.advance(by: .milliseconds(pause))
        await session.retry()
      }
      try await session.close()
    },
    JournalStory(.secretUnreadable, "the token item is overwritten while the app is closed") {
      stage in
      try await stage.signedIn().close()
      try Data("not an item".utf8).write(to: stage.secret("token"))
      try await stage.open().close()
    },
    JournalStory(.secretsAhead, "an older copy of the journal is put back; the item has no event") {
      stage in
      let session = try await stage.signedIn()
      try stage.copy("a.journal", to: "old.journal")
      try await session.refresh()
      try await session.refresh()
      try await session.close()
      try stage.editToken { $0["announcement"] = "" }
      try stage.copy("old.journal", to: "a.journal")
      try await stage.open().close()
    },
    JournalStory(.secretsOutdated, "older secrets are put back") { stage in
      let session = try await stage.signedIn()
      try stage.copy("secrets", to: "old.secrets")
      try await session.refresh()
      try await session.close()
      try stage.copy("old.secrets", to: "secrets")
      try await stage.open().close()
    },
    JournalStory(
      .secretsNewer,
      "an earlier version of the app meets a later one's token; the user signs in anew"
    ) { stage in
      try await stage.signedIn().close()
      try stage.makeNewer("token")
      let session = try await stage.open()
      try await session.login(.sample)
      try await session.close()
    },
    JournalStory(.proofKeyLost, "the key of bound tokens is gone when the app is opened again") {
      stage in
      stage.server.failNext(.login, with: .patch(["token_type": "DPoP"]))
      var configuration = stage.configuration(.keeping)
      for isGone in [false, true] {
        configuration.http.proof = ProofOfPossession(key: StoryKey(isGone: isGone))
        let session = try await Session.open(configuration)
        if !isGone { try await session.login(.sample) }
        stage.clock.advance(by: .seconds(60))
        try await session.close()
      }
    },
    JournalStory(.endedByServer, "by hand: a server that ends the session") { stage in
      try await stage.signedIn().close()
      try stage.append([.event(.sessionExpired(.init(reason: .endedByServer)))])
    },
    JournalStory(.unexplained, "by hand: a reason that only a newer version knows") { stage in
      try await stage.signedIn().close()
      try stage.append([.event(.sessionExpired(.init(reason: ExpiryReason(rawValue: 200))))])
    },
  ]
}

/// A key whose signature no server of a story checks.
private struct StoryKey: ProofKey {
  let isGone: Bool

  func publicKey() async throws(ProofKeyError) -> ProofPublicKey {
    if isGone { throw .gone }
    return try ProofPublicKey(
      x: Array(repeating: 1, count: 32), y: Array(repeating: 2, count: 32))
  }

  func signature(for message: [UInt8]) async throws(ProofKeyError) -> [UInt8] {
    Array(repeating: 3, count: 64)
  }
}
