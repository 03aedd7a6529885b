#if canImport(Darwin)
internal import Darwin
#endif

/// The place of a journal: the path that was given, and the file that it leads to.
///
/// Errors name the given path. Lock file, draft and kept files are next to the real file. So every
/// process that opens the file finds the same ones, through any links.
struct JournalLocation: Equatable, Sendable {
  let given: String

  /// The real path: absolute, and free of symbolic links when it was resolved.
  let real: String

  /// Whether a regular file was at the real path.
  let isThere: Bool

  /// Returns the status of the file that has the journal's name now.
  func status(_ fileSystem: any JournalFileSystem) throws(JournalError) -> FileStatus {
    try onFile(given) { () throws(SystemFault) in try fileSystem.status(of: real) }
  }

  /// Resolves `given` once; a link that is changed later has no effect.
  static func find(_ given: String, _ fileSystem: any JournalFileSystem) throws(JournalError)
    -> JournalLocation
  {
    guard !given.isEmpty else { throw .emptyPath }
    do throws(SystemFault) {
      switch try fileSystem.status(of: given).kind {
      case .file: break
      case .folder: throw SystemFault.isFolder
      case .other: throw SystemFault.isNoFile
      }
      return JournalLocation(
        given: given, real: try fileSystem.realPath(of: given), isThere: true)
    } catch {
      guard error.isMissing else { throw error.error(at: given) }
    }
    return try findNew(given, fileSystem)
  }

  private static func findNew(_ given: String, _ fileSystem: any JournalFileSystem)
    throws(JournalError) -> JournalLocation
  {
    let isDangling: Bool
    do throws(SystemFault) { isDangling = try isLink(given, fileSystem) } catch {
      throw error.error(at: given)
    }
    guard !isDangling else { return try findQuarantined(given, fileSystem) }
    do throws(SystemFault) {
      return try place(given, given: given, fileSystem)
    } catch {
      throw error.isMissing ? .folderMissing(path: given) : error.error(at: given)
    }
  }

  /// Returns the target of a link whose file was quarantined: a new journal is created there.
  ///
  /// Any other link without a target is refused. Its target may be on a disk that is not mounted
  /// now. A new journal in its place would look as if everything were lost.
  private static func findQuarantined(_ given: String, _ fileSystem: any JournalFileSystem)
    throws(JournalError) -> JournalLocation
  {
    do throws(SystemFault) {
      var path = given
      // Systems follow at most 40 links too.
      for _ in 0..<40 {
        let target = try fileSystem.target(ofLink: path)
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        path = target.hasPrefix("/") ? target : folder + target
        guard try !isLink(path, fileSystem) else { continue }
        let location = try place(path, given: given, fileSystem)
        guard try SetAsideJournal.last(beside: location, fileSystem) != nil else { break }
        return location
      }
    } catch {
      guard error.isMissing else { throw error.error(at: given) }
    }
    throw .danglingLink(path: given)
  }

  private static func isLink(_ path: String, _ fileSystem: any JournalFileSystem)
    throws(SystemFault) -> Bool
  {
    do throws(SystemFault) { return try fileSystem.isLink(path) } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }

  /// Returns a location without a file, in a folder whose path is free of links.
  private static func place(
    _ path: String, given: String, _ fileSystem: any JournalFileSystem
  ) throws(SystemFault) -> JournalLocation {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let cut = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
    let folder = try fileSystem.realPath(
      of: cut == path.startIndex ? "." : String(path[..<cut]))
    let real = (folder == "/" ? "" : folder) + "/" + path[cut...]
    return JournalLocation(given: given, real: real, isThere: false)
  }
}

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
  /// The whole copy of a journal that moves to this place.
  case staged = ".moving"
  /// An empty file: the journal has moved away, and nothing is left to do.
  case moved = ".moved"
}

/// The exclusion of a file from the system's backups.
///
/// A journal restored from a backup would hold tokens that were rotated long ago.
///
/// - Requirement: JRN-1
package enum BackupExclusion {
  /// The extended attribute that Foundation's `isExcludedFromBackup` sets.
  static let attribute = "com.apple.metadata:com_apple_backup_excludeItem"

  /// Its value: a binary property list of the string `com.apple.backupd`.
  package static let value: [UInt8] = {
    let text = Array("com.apple.backupd".utf8)
    let start = Array("bplist00".utf8) + [0x5F, 0x10, UInt8(text.count)] + text
    let table = UInt8(start.count)
    // There is one object. The table before this trailer holds its offset, in one byte.
    let trailer: [UInt8] =
      [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0]
      + [0, 0, 0, 0, 0, 0, 0, table]
    return start + [8] + trailer
  }()

  /// Marks an open file; systems without such a mark have no such backups.
  static func mark(_ descriptor: Int32) {
    #if canImport(Darwin)
    // A failure is ignored: a volume without attributes is not in backups that read them.
    _ = fsetxattr(descriptor, attribute, value, value.count, 0, 0)
    #endif
  }
}
