import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

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
          to: ContextTarget(
            role: Identifier(context.roleID), school: Identifier(context.schoolID)))
      }
      await eventually("the refresh behind it") {
        session.currentToken?.generation == Generation(2)
      }
      try await session.close()
    },
    JournalStory(
      .notRevoked, "the server is gone when the user logs out", asks: "revocationSettled"
    ) {
      stage in
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
    JournalStory(
      .storageFailed, "a token cannot be stored for a while", asks: "storageFailed"
    ) { stage in
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
    JournalStory(
      .leftoversWiped, "the token item comes back after a logout", asks: "secretsWiped"
    ) { stage in
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
