import Foundation
import SessionExplain
import SessionKit

/// What a support screen shows, and the file of its share button.
struct SupportScreen {
  /// What happened and what to do, in the user's language.
  let summary: String
  /// A report without names, which leaves the device only if the user shares it.
  let report: URL

  init(of history: SessionHistory, in folder: URL, language: SessionLanguage) throws {
    summary = Explanation(of: history).summary(in: language)
    report = folder.appending(path: "session-report.jsonl")
    try Data(SupportReport(of: history).text.utf8).write(to: report, options: .atomic)
  }
}
