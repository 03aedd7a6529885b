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
}
