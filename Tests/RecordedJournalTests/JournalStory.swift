@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// How the journal of a cause is made: a real session with a real server, on real files.
struct JournalStory: Sendable, CustomTestStringConvertible {
  let cause: Cause
  /// What was done, for the page.
  let title: String
  /// The selected record: the last one of this name; `nil` for the last end.
  var asks: String?
  let tell: @Sendable (StoryStage) async throws -> Void

  init(
    _ cause: Cause, _ title: String, asks: String? = nil,
    _ tell: @escaping @Sendable (StoryStage) async throws -> Void
  ) {
    self.cause = cause
    self.title = title
    self.asks = asks
    self.tell = tell
  }

  var testDescription: String { cause.id }

  static let all = refusals + exhaustions + storage + still + records
}
