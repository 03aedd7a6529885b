import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

extension JournalStory {
  /// Stored items that are missing, changed, older or newer than they should be.
  static let storage: [JournalStory] = [
    JournalStory(
      .answerNotStored,
      "a strict server rotates, the token item cannot be written, the app closes; the next opening is refused"
    ) { stage in
      stage.server.settings.update { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
      let store = BrokenStore(folder: stage.secrets.path)
      let session = try await stage.signedIn(.story, store)
      store.breakTokenItem(true)
      await stage.refreshInVain(session)
      await stage.fails { () async throws(SessionError) in try await session.close() }
      store.breakTokenItem(false)
      stage.clock.advance(by: .seconds(60))
      let again = try await stage.open(.story, store)
      await eventually("the refusal") { again.state.kind != .authenticated }
      try await again.close()
    },
    JournalStory(.stillStoreFailing, "the token item cannot be written, and the app closes") {
      stage in
      let store = BrokenStore(folder: stage.secrets.path)
      let session = try await stage.signedIn(.keeping, store)
      store.breakTokenItem(true)
      await stage.refreshInVain(session)
      await stage.fails { () async throws(SessionError) in try await session.close() }
    },
    JournalStory(.stillAccessRefused, "by hand: the system refuses to read the token item") {
      stage in
      try await stage.signedIn(.keeping).close()
      try stage.append([
        .note(
          .storageFailed(.init(item: .token, operation: .read, cause: .refused, number: 13)))
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
