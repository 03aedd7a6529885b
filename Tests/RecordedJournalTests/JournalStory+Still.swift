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
    JournalStory(.stillSecretsLocked, "the refresh token is kept apart, and cannot be read yet") {
      stage in
      let store = ApartStore(folder: stage.secrets.path)
      try await stage.signedIn(.keeping, store).close()
      let session = try await stage.open(.keeping, store)
      // The presence check before the note succeeds; the item is locked at the request.
      store.lock(after: 1)
      await stage.refreshInVain(session)
      try await session.close()
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
    },
  ]
}
