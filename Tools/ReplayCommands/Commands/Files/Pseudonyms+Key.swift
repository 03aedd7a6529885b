internal import SessionExplain

extension Pseudonyms {
  /// The minimum length of a key, in bytes.
  private static let shortestKey = 16

  /// Rejects a key that could be guessed.
  static func check(key: String) throws(ToolError) {
    guard key.utf8.count >= shortestKey else {
      throw .usage(
        .badValue,
        "--key needs \(shortestKey) bytes or more: with one that can be guessed, anybody can test "
          + "what a pseudonym stands for.",
        next: #"--key "$(openssl rand -hex 16)", kept for next time"#)
    }
  }
}
