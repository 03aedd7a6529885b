internal import SessionExplain
internal import SessionJournal

/// Finds the file that the user probably meant by a path that does not exist.
enum NearFile {
  /// Returns the file in the same folder with the most similar name, or the only journal there.
  ///
  /// Returns `nil` if there is none.
  static func suggestion(for path: String) -> String? {
    guard !path.isEmpty, !path.hasSuffix("/") else { return nil }
    let names = names(beside: path)
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

  /// Returns the journal of a session's directory, or the only journal in another folder.
  ///
  /// Returns `nil` if there is none, or if there are several.
  static func journal(in folder: String) -> String? {
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    let journals = names(beside: prefix).filter { $0.hasSuffix(".journal") }
    let own = "session.journal"
    guard let found = journals.contains(own) ? own : journals.count == 1 ? journals[0] : nil else {
      return nil
    }
    return (prefix + found).quotedWhereNeeded
  }

  /// The visible names in the folder of a path; none if it cannot be listed.
  private static func names(beside path: String) -> [String] {
    do throws(SystemFault) {
      return try POSIXFileSystem().names(beside: path).filter { !$0.hasPrefix(".") }.sorted()
    } catch {
      return []
    }
  }
}
