import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

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
    },
    still(.stillRefused, .status(409, code: "DEVICE_NOT_ALLOWED")),
    still(.stillSignInDemanded, .status(400, code: "interaction_required")),
    still(.stillAppRefused, .status(401, code: "invalid_client")),
    still(.stillEndpointMissing, .status(404, code: "NOT_FOUND")),
    still(.stillUnreadable, .brokenJSON),
    still(
      .stillBlocked,
      .body(Array("Forbidden by policy".utf8), contentType: "text/plain", status: 403)),
    JournalStory(
      .stillErrorPage, "a gateway answers the refresh with a page and status 502"
    ) { stage in
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
      try stage.append([
        .event(
          .refreshFailed(
            .init(
              generation: Generation(1), trigger: .launch, attempt: 1, failure: failure,
              retryAt: time.advanced(by: 60_000), request: request)))
      ])
    },
    JournalStory(.stillSignedIn, "sign in, refresh, close") { stage in
      let session = try await stage.signedIn()
      try await session.refresh()
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
