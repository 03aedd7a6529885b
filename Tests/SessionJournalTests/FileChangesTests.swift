import ChildProcesses
import Foundation
import Testing

@testable import SessionJournal

@Suite("The notices of changes of one journal", .timeLimit(.minutes(3)))
struct FileChangesTests {
  private let scratch: TemporaryFolder
  private let notifier = ChangeNotifier()

  init() throws { scratch = try TemporaryFolder() }

  @Test("JRN-1 a watch is current until another file takes the name, though the old one is open")
  func replaced() async throws {
    let path = try scratch.write([1], to: "a")
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    let old = FileChanges(of: path, by: notifier)
    #expect(old.isCurrent)
    let other = try scratch.write([2], to: "b")
    #expect(rename(other, path) == 0)
    #expect(!old.isCurrent)
    #if os(Linux)
      // The system reports that the name is gone, so no reader waits for the limit.
      await old.wait(atMost: .seconds(100_000))
    #endif
    #expect(FileChanges(of: path, by: notifier).isCurrent)
    try file.close()
  }

  @Test("JRN-1 a watch of a missing file is current until a file is there")
  func missing() throws {
    let path = scratch.file("a")
    let changes = FileChanges(of: path, by: notifier)
    #expect(changes.isCurrent && !changes.isNotified)
    _ = try scratch.write([1], to: "a")
    #expect(!changes.isCurrent)
  }

  #if os(Linux)
    @Test("JRN-1 a file that was removed is not taken for one that has its number again")
    func removed() async throws {
      let (path, watched) = (try scratch.write([1], to: "a"), try scratch.write([1], to: "b"))
      // Not every file system uses a number again. So the file that is watched and removed is another
      // one here, and the file at the path has the number that the reader knows.
      let notifier = ChangeNotifier { instance, _ in ChangeNotifier.ask(instance, watched) }
      let old = FileChanges(of: path, by: notifier)
      #expect(old.isNotified && old.isCurrent)
      try FileManager.default.removeItem(atPath: watched)
      while notifier.count > 0 { await Task.yield() }
      #expect(!old.isCurrent)
    }
  #endif
}
