import Foundation
import SessionJournal

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The directory of a session, created at its first start.
///
/// A new directory must not hide that a disk is missing. That disk may hold the journal that owns
/// the stored secrets, and secrets are removed if their journal is proven to be gone. So the
/// secrets are checked first.
///
/// - Requirement: RES-7
extension FilePlace {
  func prepare(for secrets: any SecretStore) throws(SessionError) {
    guard let directory else { return }
    // A directory of its own keeps two sessions from sharing a folder and differing only in a file
    // name. An existing one keeps its mode, since a group of apps may share it. A link that leads
    // to nothing is not followed, since the disk that it leads to may come back. A disk may still
    // be mounted over the folder before it is created. Then the new directory is below the mounted
    // disk, empty and hidden, and the journal that opens is the one on the disk.
    let missing = try Self.missingFolders(of: Self.path(of: directory), path)
    guard !missing.isEmpty else { return }
    try refuseIfJournalIsMissed(secrets)
    for folder in missing.reversed() {
      guard mkdir(folder, 0o700) != 0 else {
        try Self.syncFolder(above: folder, path)
        continue
      }
      // Another process was faster.
      guard errno == EEXIST else { throw Self.failure(errno, path) }
    }
  }

  /// Returns the folders of `path` that are missing, the innermost first; empty if the directory
  /// exists.
  private static func missingFolders(of path: String, _ journal: String)
    throws(SessionError) -> [String]
  {
    var missing: [String] = []
    var place = Substring(path)
    while true {
      var status = stat()
      if stat(String(place), &status) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else {
          throw .wrongAddress("\(place) is not a directory")
        }
        return missing
      }
      if errno == ENOTDIR { throw .wrongAddress("a part of \(place) is not a directory") }
      guard errno == ENOENT else { throw failure(errno, journal) }
      guard lstat(String(place), &status) != 0 else {
        // Another process may have created it between the two calls.
        if stat(String(place), &status) == 0 { continue }
        throw .journal(.danglingLink(path: String(place)))
      }
      missing.append(String(place))
      let slash = place.lastIndex(of: "/") ?? place.startIndex
      place = place[..<slash]
      if place.isEmpty { place = "/" }
    }
  }

  /// Throws if a stored item belongs, or may belong, to a journal that should be there.
  private func refuseIfJournalIsMissed(_ secrets: any SecretStore) throws(SessionError) {
    try refuse(StoredToken.self, secrets)
    try refuse(StoredUser.self, secrets)
    try refuse(StoredRevocations.self, secrets)
  }

  private func refuse<Item: LocatedItem>(_: Item.Type, _ secrets: any SecretStore)
    throws(SessionError)
  {
    let read: [UInt8]?
    let missing = SessionError.journal(.folderMissing(path: path))
    // To create the folder would not help: the owner of the item is unknown.
    do throws(SecretStoreError) { read = try secrets.read(Item.item) } catch {
      throw .secrets(error)
    }
    guard let bytes = read else { return }
    let stored: Item
    do throws(StoredItemError) { stored = try Item(decoding: bytes) } catch {
      // The item does not say which journal it belongs to.
      throw missing
    }
    guard let other = stored.journalPath, other != path else { throw missing }
    // In an empty folder, a new journal would prove that nothing is to be mounted there.
    // Secrets are wiped only if the journal of their owner is proven to be gone. An empty folder
    // above it is no proof, since a disk may be mounted there later. Once this directory was
    // created in that folder, it would not be empty any more, and would count as one.
    switch Journal.presence(at: other, options: options) {
    case .unknown(let problem) where problem.isOfMissingFile: throw missing
    case .present, .absent, .unknown: break
    }
  }

  private static func syncFolder(above folder: String, _ journal: String) throws(SessionError) {
    let slash = folder.lastIndex(of: "/") ?? folder.startIndex
    let parent = slash == folder.startIndex ? "/" : String(folder[..<slash])
    let number = openDescriptor(parent, O_RDONLY | O_DIRECTORY)
    guard number >= 0 else {
      // A folder that can be written but not read cannot be synced.
      guard errno == EACCES else { throw failure(errno, journal) }
      return
    }
    let isSynced = fsync(number) == 0
    let code = errno
    _ = closeFolder(number)
    guard isSynced else { throw failure(code, journal) }
  }

  private static func failure(_ code: Int32, _ journal: String) -> SessionError {
    switch code {
    case EACCES, EPERM:
      .journal(.permissionDenied(path: journal, rights: AccessRights.denial(of: journal)))
    case EROFS: .journal(.readOnlyFolder(path: journal))
    case ENOSPC, EDQUOT: .journal(.noRoomToCreate(path: journal))
    default: .journal(.io(path: journal, operation: "create the folder of", code: code))
    }
  }
}

// The name of the system is that of a method here.
private func closeFolder(_ number: Int32) -> Int32 { close(number) }

extension JournalError {
  /// Whether the batch that was being written may be in the log.
  var mayHaveWritten: Bool {
    switch self {
    case .io, .unavailable: true
    default: false
    }
  }

  /// Whether the error means that something is missing, which may come back.
  var isOfMissingFile: Bool {
    switch self {
    case .missing, .folderMissing, .danglingLink: true
    default: false
    }
  }
}
