@_spi(Internals) public import SessionCore
import SessionJournal

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Stores secrets in files that only their owner can read: mode 0600 in a folder of mode 0700.
///
/// Each item is one file. A write goes to a temporary file, which is synced and renamed to the
/// item's name. Then the folder is synced. After a crash the item is the complete old one or the
/// complete new one. Before a request that replaces the token, that temporary file is written in
/// full length, so that a disk that becomes full cannot lose the response.
///
/// Use one folder per account, because a session refuses to open with another session's secrets.
///
/// - Requirement: STO-2, REF-20
public struct FileSecretStore: SecretStore {
  /// The names of the items' files.
  ///
  /// - Requirement: STO-1
  public struct Names: Hashable, Sendable {
    /// The file of the tokens.
    public var token = "token"
    /// The file of the user's profile.
    public var user = "user"
    /// The file of the active context.
    public var context = "context"
    /// The file with the data of pending revocations.
    public var revocation = "revocation"
    /// The file of the refresh token, if it is stored separately.
    public var refreshToken = "refreshToken"

    /// Creates the default names.
    public init() {}

    subscript(item: SecretItem) -> String {
      switch item {
      case .token: token
      case .user: user
      case .context: context
      case .refreshToken: refreshToken
      default: revocation
      }
    }
  }

  /// The maximum size of a secret, in bytes.
  static let maximumSize = 1 << 20

  /// The folder that holds the files.
  public let folder: String
  /// The names of the files.
  public let names: Names

  /// Creates a store in this folder.
  ///
  /// The folder is created when the first item is written.
  public init(folder: String, names: Names = Names()) {
    self.folder = folder
    self.names = names
  }

  /// Returns the item's bytes; `nil` if there is no file of its name.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let file = file(of: item)
    guard let descriptor = try file.open() else { return nil }
    return try descriptor.readAll(limit: Self.maximumSize)
  }

  /// Replaces the item completely or not at all.
  ///
  /// The item is durable when this returns.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard bytes.count <= Self.maximumSize else {
      throw .tooLarge(item: item, place: file(of: item).path, maximum: Self.maximumSize)
    }
    try file(of: item).makeFolder()
    try file(of: item).replace(with: bytes)
  }

  /// `true`: the file of the next item is there before a request leaves.
  public var reservesRoom: Bool { true }

  /// Writes as many zeros to the file that becomes the item with the next write.
  ///
  /// A file that is there already is used again. It throws `noRoomForNext` if there is no space.
  public func reserve(_ item: SecretItem, bytes: Int) throws(SecretStoreError) {
    let length = min(bytes, Self.maximumSize)
    do throws(SecretStoreError) {
      try file(of: item).makeFolder()
      try file(of: item).reserve(length)
    } catch {
      guard case .noSpace(let item, let place) = error else { throw error }
      throw .noRoomForNext(item: item, place: place, bytes: length)
    }
  }

  /// Removes the item's file.
  ///
  /// The removal is durable when this returns.
  public func remove(_ item: SecretItem) throws(SecretStoreError) {
    try file(of: item).remove()
  }

  /// Renames the item's file to `<name>.unreadable`, and replaces an earlier file of that name.
  public func setAside(_ item: SecretItem) throws(SecretStoreError) {
    try file(of: item).rename(to: names[item] + Self.asideSuffix)
  }

  /// Removes `<name>.unreadable`, if it is there.
  public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try SecretFile(item: item, folder: folder, name: names[item] + Self.asideSuffix).remove()
  }

  private static let asideSuffix = ItemSuffix.unreadable.rawValue

  private func file(of item: SecretItem) -> SecretFile {
    SecretFile(item: item, folder: folder, name: names[item])
  }
}

/// The file of one item, with the system calls and their errors.
private struct SecretFile {
  let item: SecretItem
  let folder: String
  let name: String

  var path: String { folder + "/" + name }
  private var draft: String { path + ItemSuffix.draft.rawValue }

  /// An open file.
  ///
  /// It is closed when the value is destroyed.
  struct Descriptor: ~Copyable {
    let number: Int32
    let file: SecretFile
    /// The bytes that a draft had when it was opened; 0 for a new one.
    var room: off_t = 0

    deinit { close(number) }

    func readAll(limit: Int) throws(SecretStoreError) -> [UInt8] {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 16_384)
      while true {
        let count = read(number, &chunk, chunk.count)
        if count == 0 { return bytes }
        if count < 0 {
          if errno == EINTR { continue }
          throw file.error("read", errno)
        }
        bytes += chunk[..<count]
        guard bytes.count <= limit else {
          throw .tooLarge(item: file.item, place: file.path, maximum: limit)
        }
      }
    }

    /// Writes these bytes in place of all that the file has, and syncs them.
    ///
    /// The file is cut last. So a reserve keeps its blocks until the bytes are in them.
    func writeAll(_ bytes: [UInt8]) throws(SecretStoreError) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
        if count < 0 {
          if errno == EINTR { continue }
          throw file.error("write", errno)
        }
        rest = rest.dropFirst(count)
      }
      if room > bytes.count, ftruncate(number, off_t(bytes.count)) != 0 {
        throw file.error("cut", errno)
      }
      try sync()
    }

    func sync() throws(SecretStoreError) {
      #if canImport(Darwin)
      guard fcntl(number, F_FULLFSYNC) == 0 || fsync(number) == 0 else {
        throw file.error("sync", errno)
      }
      #else
      guard fsync(number) == 0 else { throw file.error("sync", errno) }
      #endif
    }
  }

  /// Opens the file for reading.
  ///
  /// Returns `nil` if there is no file.
  ///
  /// It never follows a link and never waits for the other end of a pipe.
  func open() throws(SecretStoreError) -> Descriptor? {
    let number = openDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      throw error("open", errno)
    }
    let descriptor = Descriptor(number: number, file: self)
    try requireRegular(number)
    return descriptor
  }

  private func requireRegular(_ number: Int32) throws(SecretStoreError) {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw error("read the status of", errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      throw .obstructed(place: path, by: isFolder ? "a folder" : "a device, pipe or socket")
    }
    // Other users may have read the file until now. From now on they cannot.
    if status.st_mode & 0o077 != 0, fchmod(number, 0o600) != 0 { throw error("protect", errno) }
  }

  /// Creates the folder, and removes the access rights of other users.
  func makeFolder() throws(SecretStoreError) {
    guard mkdir(folder, 0o700) != 0 else { return try syncFolder(of: parent) }
    guard errno == EEXIST else { throw error("create the folder of", errno) }
    var status = stat()
    guard stat(folder, &status) == 0 else { throw error("read the status of the folder of", errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw .obstructed(place: folder, by: "not a folder")
    }
    if status.st_mode & 0o077 != 0, chmod(folder, 0o700) != 0 {
      throw error("protect the folder of", errno)
    }
  }

  /// Opens the file that becomes the item: a reserve, what an interrupted write left, or a new file.
  ///
  /// Only one process writes at a time, under the journal's lock. So no other one writes to it.
  private func openDraft() throws(SecretStoreError) -> Descriptor {
    let number = openDescriptor(draft, O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
    if number >= 0 {
      var status = stat()
      // A second name of the file, as a backup makes it, would show the next secret.
      if fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
        fchmod(number, 0o600) == 0
      {
        return Descriptor(number: number, file: self, room: status.st_size)
      }
      close(number)
    }
    guard unlink(draft) == 0 || errno == ENOENT else { throw error("remove the draft of", errno) }
    let new = openDescriptor(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    guard new >= 0 else { throw error("create", errno) }
    return Descriptor(number: new, file: self)
  }

  func replace(with bytes: [UInt8]) throws(SecretStoreError) {
    let opened = try openDraft()
    do throws(SecretStoreError) {
      try opened.writeAll(bytes)
      guard systemRename(draft, path) == 0 else { throw error("replace", errno) }
    } catch {
      // The item is longer than its reserve. The next attempt needs the room that there is.
      if case .noSpace = error, opened.room > 0 { throw error }
      unlink(draft)
      throw error
    }
    try syncFolder(of: folder)
  }

  /// Writes zeros to the draft, so that the item can be written when nothing else can.
  ///
  /// The sync makes file systems allocate that do it late or elsewhere, and shows that this disk
  /// syncs. The folder is not synced: after a crash no response is left to be stored.
  func reserve(_ bytes: Int) throws(SecretStoreError) {
    let opened = try openDraft()
    do throws(SecretStoreError) {
      try opened.writeAll([UInt8](repeating: 0, count: bytes))
    } catch {
      // Another process's response may still need what was there before.
      let isLeft = opened.room > 0 && ftruncate(opened.number, opened.room) == 0
      if !isLeft { unlink(draft) }
      throw error
    }
  }

  func remove() throws(SecretStoreError) {
    // A crash may have left a write that was not renamed. It contains a secret too. Or it is a reserve.
    let hadTemporary = unlink(draft) == 0
    guard unlink(path) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw error("remove", errno) }
      return hadTemporary ? try syncFolder(of: folder) : ()
    }
    try syncFolder(of: folder)
  }

  func rename(to other: String) throws(SecretStoreError) {
    guard systemRename(path, folder + "/" + other) == 0 else {
      if errno == ENOENT { return }
      throw error("move aside", errno)
    }
    try syncFolder(of: folder)
  }

  private var parent: String {
    guard let slash = folder.lastIndex(of: "/") else { return "." }
    return slash == folder.startIndex ? "/" : String(folder[..<slash])
  }

  private func syncFolder(of path: String) throws(SecretStoreError) {
    let number = openDescriptor(path, O_RDONLY | O_DIRECTORY)
    guard number >= 0 else { throw error("open the folder of", errno) }
    try Descriptor(number: number, file: self).sync()
  }

  private static let readings: Set = ["open", "read", "read the status of"]

  func error(_ operation: String, _ code: Int32) -> SecretStoreError {
    switch code {
    case EROFS: .notWritable(item: item, place: path)
    case EACCES, EPERM:
      Self.readings.contains(operation) ? denial(code) : .notWritable(item: item, place: path)
    case ENOSPC, EDQUOT, EFBIG: .noSpace(item: item, place: path)
    case ELOOP: .obstructed(place: path, by: "a symbolic link")
    case EISDIR: .obstructed(place: path, by: "a folder")
    case ENOTDIR: .obstructed(place: folder, by: "not a folder")
    case ENXIO: .obstructed(place: path, by: "a device, pipe or socket")
    default: .failed(item: item, place: path, operation: operation, code: code)
    }
  }
}

extension SecretFile {
  /// Returns the error of a reading that the system denies.
  private func denial(_ code: Int32) -> SecretStoreError {
    guard let rights = AccessRights.denial(of: path) else {
      return .unavailable(item: item, place: path)
    }
    return .accessDenied(item: item, place: path, rights: rights, code: code)
  }
}

private func systemRename(_ from: String, _ to: String) -> Int32 {
  rename(from, to)
}

/// A suffix of an item's name, for a file or keychain item that belongs to it.
///
/// These names are stable: another version uses them to find what an interrupted write has left.
enum ItemSuffix: String, CaseIterable, Sendable {
  /// A file before it is renamed to the item's name, or the reserve for it.
  case draft = ".new"
  /// A new keychain item whose predecessor is not removed yet.
  case next = ".next"
  /// An item that could not be read, moved out of the way.
  case unreadable = ".unreadable"
}
