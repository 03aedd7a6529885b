/// Whether a journal is at a path, as far as this process can determine.
package enum JournalPresence: Equatable, Sendable {
  /// A journal with this identifier is there.
  case present(JournalIdentifier)
  /// Nothing is there: the nearest existing folder was read and does not hold the name.
  case absent
  /// Unknown: something is there that cannot be read, or a folder on the path cannot be read.
  case unknown(JournalError)
}

extension Journal {
  /// Determines whether a journal is at `path`; reads its header and takes no lock.
  ///
  /// - Requirement: RES-7
  package static func presence(at path: String, options: JournalOptions) -> JournalPresence {
    let fileSystem = options.fileSystem
    do throws(JournalError) {
      return .present(try JournalReader(path: path, fileSystem: fileSystem).identifier)
    } catch .missing {
      return absence(of: path, fileSystem)
    } catch {
      return .unknown(error)
    }
  }

  /// Searches upwards for the first folder that exists: only its listing can prove an absence.
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
        // It was created during the search.
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
