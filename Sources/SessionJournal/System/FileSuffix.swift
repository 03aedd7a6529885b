/// What follows a journal's path in the paths of the files beside it.
///
/// These names are stable: another version finds the files by them.
enum FileSuffix: String, CaseIterable, Sendable {
  /// The file whose lock makes one writer at a time.
  case lock = ".lock"
  /// The file whose locked bytes show which openings live.
  case alive = ".alive"
  /// A new journal before it takes the journal's name.
  case draft = ".new"
  /// Begins `.torn-<sequence>-<number>`: a tail that was cut off.
  case torn = ".torn-"
  /// Begins `.aside-<number>-<reason>-<time>`: a journal that was moved out of the way.
  case aside = ".aside-"
}
