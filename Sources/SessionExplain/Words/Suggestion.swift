/// Finds the word that the user probably meant.
package enum Suggestion {
  /// The longest word that is compared, in bytes: the time grows with the square of the length.
  private static let longest = 64

  /// Returns the entry of `words` that is spelled most like `word`; `nil` if none is similar.
  package static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    guard word.utf8.count <= longest else { return nil }
    let word = word.lowercased()
    let scored = words.map { (word: $0, distance: distance(word, $0.lowercased())) }
    if let best = scored.min(by: { $0.distance < $1.distance }),
      best.distance <= max(1, best.word.count / 3)
    {
      return best.word
    }
    guard word.count > 1 else { return nil }
    return words.first { $0.lowercased().hasPrefix(word) }
  }

  /// Counts the edits from one text to the other.
  ///
  /// An edit inserts, removes or replaces a character, or swaps two neighbours (the restricted
  /// Damerau–Levenshtein distance).
  package static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let isSame = left[row - 1] == right[column - 1]
        var best = min(
          last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2],
          left[row - 2] == right[column - 1]
        {
          best = min(best, beforeLast[column - 2] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
