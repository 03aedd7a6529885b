import SessionCore

/// A path without the name of the app's container, which is another one after each installation.
///
/// An app that was installed anew meets the items of its own earlier journal: they name a path that it
/// may not read any more, and that is its own path in another container.
struct SecretsPlace: Hashable {
  private let path: String

  init(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    // …/Containers/Data/Application/<UUID>/… and …/Containers/Shared/AppGroup/<UUID>/…
    guard let start = parts.lastIndex(of: "Containers"), parts.count > start + 4,
      Identifier(String(parts[start + 3])).uuid != nil
    else {
      self.path = path
      return
    }
    let kept = parts[start...(start + 2)] + parts[(start + 4)...]
    self.path = kept.joined(separator: "/")
  }

  /// Where a journal may stand that stood at `path`, if a folder was moved that holds our own as well.
  ///
  /// A system moves an app's container with all that is in it, so the end of the path stays: it is tried
  /// below each folder above our own journal.
  static func candidates(for path: String, near own: String) -> [String] {
    let stored = path.split(separator: "/").suffix(longestEnd)
    let folders = own.split(separator: "/").dropLast()
    let ends = stored.indices.map { stored[$0...].joined(separator: "/") }
    return folders.indices.reversed().prefix(longestEnd).flatMap { index in
      ends.map { "/" + folders[...index].joined(separator: "/") + "/" + $0 }
    }
    .filter { $0 != path && $0 != own }
  }

  /// How many parts of a path are tried.
  private static let longestEnd = 6
}
