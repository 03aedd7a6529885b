import Foundation
import Testing

/// A folder that is removed with the test.
final class Scratch: Sendable {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "regressions-\(UUID().uuidString)"
  }

  deinit {
    guard FileManager.default.fileExists(atPath: path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record("\(path) is left behind: \(error)")
    }
  }

  func write(_ text: String, to file: String) throws {
    try text.write(toFile: file, atomically: true, encoding: .utf8)
  }
}
