/// Whether a journal stands at a path, as far as this process can tell.
package enum JournalPresence: Equatable, Sendable {
  /// A journal with this identifier stands there.
  case present(JournalIdentifier)
  /// Nothing stands there: each folder on the way was read, and the name is not in it.
  case absent
  /// It cannot be told: something stands there that cannot be read, or a folder on the way cannot.
  case unknown(JournalError)
}

extension Journal {
  /// Whether a journal stands at `path`; reads its header and takes no lock.
  ///
  /// - Requirement: RES-7
  package static func presence(at path: String, options: Options) -> JournalPresence {
    let fileSystem = options.fileSystem
    do throws(JournalError) {
      return .present(try JournalReader(path: path, fileSystem: fileSystem).identifier)
    } catch .missing {
      return absence(of: path, fileSystem)
    } catch {
      return .unknown(error)
    }
  }

  /// Goes up to the first folder that is there: only that one can prove what it does not hold.
  ///
  /// These prove nothing, since what is missing may be on a disk that is not mounted:
  /// - a link that leads nowhere,
  /// - an empty folder above the journal's own, which may be the place of a mount,
  /// - a folder in which systems mount disks.
  private static func absence(of path: String, _ fileSystem: any JournalFileSystem)
    -> JournalPresence
  {
    var place = Substring(path)
    while true {
      let name = place.lastIndex(of: "/").map { place[place.index(after: $0)...] } ?? place
      do throws(SystemFault) {
        let isDangling = try isLink(String(place), fileSystem)
        guard !isDangling else {
          return .unknown(.danglingLink(path: path))
        }
        let names = try fileSystem.names(beside: String(place))
        let folder = place.dropLast(name.count + 1)
        let isEmpty = names.allSatisfy { [".", ".."].contains($0) }
        let mayMount = place != path[...] && isEmpty || mountFolders.contains(String(folder))
        guard !mayMount else { return .unknown(.folderMissing(path: path)) }
        // It came while this was read.
        return names.contains(String(name)) ? .unknown(.missing(path: path)) : .absent
      } catch {
        guard error.isMissing else { return .unknown(error.error(at: path)) }
      }
      place = place.dropLast(name.count)
      while place.count > 1, place.last == "/" { place.removeLast() }
      guard !place.isEmpty, place != "/" else { return .unknown(.folderMissing(path: path)) }
    }
  }

  private static let mountFolders: Set = ["/Volumes", "/media", "/mnt", "/run/media"]

  private static func isLink(_ path: String, _ fileSystem: any JournalFileSystem)
    throws(SystemFault) -> Bool
  {
    do throws(SystemFault) { return try fileSystem.isLink(path) } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }
}
