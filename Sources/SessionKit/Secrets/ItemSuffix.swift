/// What follows an item's name in the name of a file or keychain item that belongs to it.
///
/// These names are stable: another version finds what an interrupted write has left by them.
enum ItemSuffix: String, CaseIterable, Sendable {
  /// A file before it takes the item's name.
  case draft = ".new"
  /// A keychain item whose older one is not removed yet.
  case next = ".next"
  /// An item that could not be read, moved out of the way.
  case unreadable = ".unreadable"
}
