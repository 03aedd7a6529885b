import SessionCore

/// A path without the name of the app's container, which changes with each installation.
///
/// After an app was installed again, it may find stored items of its own earlier journal. They name
/// a path in the old container, which the app may not read any more. Without the container's name,
/// it equals the app's own path.
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

  /// Returns the paths at which a journal may be that was at `path`, if a folder that also contains
  /// our journal was moved.
  ///
  /// The system moves an app's container with its contents, so the end of the path stays the same.
  /// The end is tried below each folder above our own journal.
  static func candidates(for path: String, near own: String) -> [String] {
    let stored = path.split(separator: "/").suffix(longestEnd)
    let folders = own.split(separator: "/").dropLast()
    let ends = stored.indices.map { stored[$0...].joined(separator: "/") }
    return folders.indices.reversed().prefix(longestEnd).flatMap { index in
      ends.map { "/" + folders[...index].joined(separator: "/") + "/" + $0 }
    }
    .filter { $0 != path && $0 != own }
  }

  /// The maximum number of path components to try.
  private static let longestEnd = 6
}
