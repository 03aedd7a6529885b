import Foundation

/// What `SESSION_REPLAY` says: a replay code, or the path of a file that holds one.
///
/// The file holds the code alone, or is a saved case. A code longer than 2,000 characters is written
/// into a file, since neither a terminal nor an environment takes every length.
enum ReplayFile {
  static let longest = 2_000

  /// The code that a value of the variable stands for; the reason where it stands for none.
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

  /// The value for the variable, and why a long one stands there in full.
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
      return (text, "the replay code could not be written into \(file.path): \(reason)")
    }
  }
}
