/// A search for the word that was probably meant.
enum NearMiss {
  /// Returns the word in `words` that is spelled most like `word`; `nil` if none is similar.
  static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    // A longer word is not a typing error, and the search would take long.
    guard word.count <= 40 else { return nil }
    let low = word.lowercased()
    let scored = words.sorted().map { (word: $0, distance: distance(low, $0.lowercased())) }
    guard let best = scored.min(by: { $0.distance < $1.distance }),
      best.distance <= max(1, best.word.count / 3)
    else { return nil }
    return best.word
  }

  /// Returns the number of letters that are inserted, removed, replaced or swapped with their
  /// neighbour.
  private static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let isSame = left[row] == right[column]
        var best = min(last[column + 1], current[column]) + 1
        best = min(best, last[column] + (isSame ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
