import Foundation

extension Choices {
  /// Copies the journal at `path` of a simulated disk to a real file, and names that file in the
  /// report.
  ///
  /// Call it when the case is over, before any check that may fail. In a case without a report it
  /// does nothing. The file is in the system's temporary folder, and its name is a hash of the path
  /// and the draws. If it cannot be written, or the disk has no such file, the report says so.
  public func attach(journal path: String, of disk: SimulatedDisk) {
    guard isTracing else { return }
    guard let bytes = disk.contents(of: path) else {
      complain(disk.misses(path))
      return
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-journals")
    let name = String(StableHash.hash("\(path) \(recorded)"), radix: 16)
    let file = folder.appending(path: "\(name).journal")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: file, options: .atomic)
      attach(journal: file.path)
    } catch {
      step("the journal could not be written to \(file.path): \(error)")
    }
  }
}

extension SimulatedDisk {
  /// Returns a sentence that the disk has no such file, and which files it has.
  func misses(_ path: String) -> String {
    let others = paths.isEmpty ? "no file" : paths.joined(separator: ", ")
    return "no journal is attached: the disk has no \(path), it has \(others)"
  }
}
