/// Where a journal is: the path that was given, and the file that it leads to.
///
/// Errors speak of the first. Lock, temporary and kept-aside files stand beside the second, so that
/// everybody who opens the file finds the same ones, whatever links lead there.
struct JournalLocation: Equatable, Sendable {
  let given: String

  /// Absolute, and free of symbolic links when it was looked up.
  let real: String

  /// Whether a regular file stood there.
  let isThere: Bool

  /// Looks up what `given` leads to, once: a link that is turned elsewhere later changes nothing.
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
    do throws(SystemFault) {
      isDangling = try fileSystem.isLink(given)
    } catch {
      guard error.isMissing else { throw error.error(at: given) }
      isDangling = false
    }
    // What it leads to may be on a disk that is not there at the moment: a new journal in its place
    // would look like everything lost.
    guard !isDangling else { throw .danglingLink(path: given) }
    let cut = given.lastIndex(of: "/").map { given.index(after: $0) } ?? given.startIndex
    do throws(SystemFault) {
      let folder = try fileSystem.realPath(
        of: cut == given.startIndex ? "." : String(given[..<cut]))
      let real = (folder == "/" ? "" : folder) + "/" + given[cut...]
      return JournalLocation(given: given, real: real, isThere: false)
    } catch {
      throw error.isMissing ? .folderMissing(path: given) : error.error(at: given)
    }
  }
}
