import Foundation

/// A case that never stops drawing.
///
/// Nothing within the process can stop its body. So the process prints which case it is, and ends.
struct EndlessCase: Sendable {
  let property: String
  let seed: UInt64
  /// The name of the case that ran: "case 7", "the replayed case".
  let name: String

  /// Returns what a reader needs to run the case again.
  func text(_ draws: [UInt64]) -> String {
    let code = ReplayFile.replay(ReplayCode(property: property, draws: draws))
    return """
      Property "\(property)" does not end: \(name) asked for more than \
      \(ChoiceState.endlessDraws) draws.
        Its body continues whatever is drawn. Only the end of the process can stop it.
        Let a draw of 0 end the loop.
      Draws: \(PropertyReport.told(draws.trimmed))
      Seed: \(seed)
      Run it again: SESSION_REPLAY=\(code.value) swift test
      """
  }

  /// Prints the text, and ends the process.
  func end(_ draws: [UInt64]) -> Never {
    Aside.tell(text(draws))
    exit(EXIT_FAILURE)
  }
}

/// Output of a property that is not part of its report.
enum Aside {
  /// Prints lines to standard error.
  static func tell(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
