internal import SessionJournal

/// Finds the file that the user probably meant by a path that does not exist.
enum NearFile {
  /// Returns the file in the same folder with the most similar name, or the only journal there.
  ///
  /// Returns `nil` if there is none.
  static func suggestion(for path: String) -> String? {
    guard !path.isEmpty, !path.hasSuffix("/") else { return nil }
    let names: [String]
    do throws(SystemFault) {
      names = try POSIXFileSystem().names(beside: path).filter { !$0.hasPrefix(".") }.sorted()
    } catch {
      // A folder that cannot be listed has nothing to suggest.
      return nil
    }
    let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let (folder, wanted) = (path[..<start], path[start...].lowercased())
    // No file has a longer name.
    guard wanted.utf8.count <= 255 else { return nil }
    let scored = names.map { ($0, Suggestion.distance(wanted, $0.lowercased())) }
    let journals = names.filter { $0.hasSuffix(".journal") }
    let near = scored.filter { $0.1 <= min(2, wanted.count / 2) }.min { $0.1 < $1.1 }?.0
    guard let found = near ?? (journals.count == 1 ? journals[0] : nil) else { return nil }
    return (String(folder) + found).quotedWhereNeeded
  }
}
