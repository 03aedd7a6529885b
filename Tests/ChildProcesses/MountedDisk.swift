import Foundation

/// A file system in memory, unmounted with the last reference.
package final class MountedDisk: Sendable {
  package let folder: String
  private let scratch: TemporaryFolder

  package init(kibibytes: Int = 512) throws {
    scratch = try TemporaryFolder()
    folder = scratch.path
    guard try Self.mount(folder, kibibytes) else { throw POSIXError(.EPERM) }
  }

  deinit {
    // Lazily: a process that was killed may not have ended yet.
    do { _ = try Self.run(["umount", "-l", folder]) } catch {
      FileHandle.standardError.write(Data("left mounted: \(folder)\n".utf8))
    }
  }

  /// Fills the file system and leaves some blocks of 4 KiB.
  package func fill(leaving blocks: Int = 0) throws {
    let file = open(filling, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer { close(file) }
    let bytes = [UInt8](repeating: 1, count: 4096)
    var size = lseek(file, 0, SEEK_END)
    while true {
      let count = write(file, bytes, bytes.count)
      guard count > 0 else { break }
      size += off_t(count)
    }
    guard errno == ENOSPC, ftruncate(file, max(0, size - off_t(blocks * 4096))) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }

  /// Frees that space.
  package func empty() throws {
    guard unlink(filling) == 0 || errno == ENOENT else { throw POSIXError(.EIO) }
  }

  private var filling: String { folder + "/filling" }

  /// Whether this process may mount and unmount.
  package static let isAllowed: Bool = {
    guard geteuid() == 0 else { return false }
    do {
      let scratch = try TemporaryFolder()
      guard try mount(scratch.path, 64) else { return false }
      return try run(["umount", scratch.path])
    } catch {
      return false
    }
  }()

  private static func mount(_ folder: String, _ kibibytes: Int) throws -> Bool {
    try run(["mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", folder])
  }

  private static func run(_ command: [String]) throws -> Bool {
    try ChildProcess.run(command[0], Array(command.dropFirst()), errors: .dropped).code == 0
  }
}
