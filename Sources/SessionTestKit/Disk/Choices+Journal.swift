import Foundation

extension Choices {
  /// Puts the journal at `path` of a simulated disk into a file that people can inspect, and names it
  /// in the report; does nothing in a case that no report tells of.
  ///
  /// Call it where the case is over, before what may fail. The file lies in the system's temporary
  /// folder and is named after the case's draws. Where it cannot be written, or the disk has no such
  /// file, the report says so.
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
  /// That there is no such file to attach, and what there is.
  func misses(_ path: String) -> String {
    let others = paths.isEmpty ? "no file" : paths.joined(separator: ", ")
    return "no journal is attached: the disk has no \(path), it has \(others)"
  }
}
