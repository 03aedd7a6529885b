/// What the names of files next to a journal add to its path.
///
/// These names are stable: other versions find the files by them.
enum FileSuffix: String, CaseIterable, Sendable {
  /// The lock file, which allows one writer at a time.
  case lock = ".lock"
  /// The file whose locked bytes show which openings are alive.
  case alive = ".alive"
  /// A new journal, before it takes the journal's name.
  case draft = ".new"
  /// A tail that was cut off: `.torn-<sequence>-<number>`.
  case torn = ".torn-"
  /// A quarantined journal: `.aside-<number>-<reason>-<time>`.
  case aside = ".aside-"
}
