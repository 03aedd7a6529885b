/// A suffix of an item's name, for a file or keychain item that belongs to it.
///
/// These names are stable: another version uses them to find what an interrupted write has left.
enum ItemSuffix: String, CaseIterable, Sendable {
  /// A file before it is renamed to the item's name.
  case draft = ".new"
  /// A new keychain item whose predecessor is not removed yet.
  case next = ".next"
  /// An item that could not be read, moved out of the way.
  case unreadable = ".unreadable"
}
