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
      // As many links as systems follow.
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
    let cut = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let folder = try fileSystem.realPath(
      of: cut == path.startIndex ? "." : String(path[..<cut]))
    let real = (folder == "/" ? "" : folder) + "/" + path[cut...]
    return JournalLocation(given: given, real: real, isThere: false)
  }
}
