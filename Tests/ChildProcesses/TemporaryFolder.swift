import Foundation

/// A folder that is removed with its last reference.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "session-\(UUID().uuidString)")
    // Other users may read it too: a test can become another user.
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    path = url.path(percentEncoded: false)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      FileHandle.standardError.write(Data("not removed: \(path): \(error)\n".utf8))
    }
  }

  /// Returns the path of the file with this name.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file and returns its path.
  package func write(_ bytes: [UInt8], to name: String) throws -> String {
    try Data(bytes).write(to: URL(filePath: file(name)))
    return file(name)
  }

  package func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: file(name))))
  }

  /// The names of the files, sorted.
  package var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }
}
