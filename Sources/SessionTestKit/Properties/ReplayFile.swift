import Foundation

/// The value of `SESSION_REPLAY`: a replay code, or the path of a file that holds one.
///
/// The file holds only the code, or is a saved case. A code longer than 2,000 characters is written
/// to a file, since terminals and environments limit the length of a value.
enum ReplayFile {
  static let longest = 2_000

  /// Returns the replay code that a value contains or names; throws the reason if there is none.
  static func code(_ value: String) throws(Unreadable) -> ReplayCode {
    var text = value
    if value.contains("/") {
      do {
        text = try String(contentsOfFile: value, encoding: .utf8)
      } catch {
        throw Unreadable(
          reason: "\(value) cannot be read: \((error as NSError).localizedDescription)")
      }
      let lines = text.split { $0.isNewline }
      text = String(lines.first { $0.hasPrefix("replay:") }?.dropFirst(7) ?? text[...])
    }
    do {
      return try ReplayCode(text.filter { !$0.isWhitespace })
    } catch {
      throw Unreadable(reason: error.description)
    }
  }

  struct Unreadable: Error {
    let reason: String
  }

  /// Returns the value for the variable.
  ///
  /// If a long code could not be written to a file, the value is the code itself, and `problem`
  /// says why.
  static func replay(_ code: ReplayCode) -> (value: String, problem: String?) {
    let text = code.text
    guard text.utf8.count > longest else { return (text, nil) }
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-replays")
    let file = folder.appending(path: String(StableHash.hash(text), radix: 16) + ".replay")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return (file.path, nil)
    } catch {
      let reason = (error as NSError).localizedDescription
      return (text, "the replay code could not be written to \(file.path): \(reason)")
    }
  }
}
