import ChildProcesses
import Foundation
import Testing

@testable import SessionJournal

#if os(Linux)
  @Suite("The notices of changes for all journals of a process", .timeLimit(.minutes(3)))
  struct ChangeNotifierTests {
    private let scratch: TemporaryFolder
    private let far = Duration.seconds(100_000)

    init() throws { scratch = try TemporaryFolder() }

    private func file(_ number: Int) throws -> String {
      let path = scratch.file("\(number)")
      try Data([1]).write(to: URL(filePath: path))
      return path
    }

    private func change(_ path: String) throws {
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.write(contentsOf: [2])
      try file.close()
    }

    @Test("SCL-2 JRN-1 each of 300 files wakes its own reader, by one instance of inotify")
    func shared() async throws {
      let notifier = ChangeNotifier()
      let paths = try (0..<300).map { try file($0) }
      let watched = paths.map { FileChanges(of: $0, by: notifier) }
      #expect(watched.allSatisfy { $0.isNotified && $0.isNotifiedOfAll == true })
      #expect(notifier.count == 300)
      for (path, changes) in zip(paths, watched) {
        try change(path)
        await changes.wait(atMost: far)
      }
      // The next wait of a file without a further change lasts until its end.
      await watched[7].wait(atMost: .milliseconds(1))
    }

    @Test("SCL-2 JRN-1 a file that is watched twice wakes both readers, and one may end")
    func twice() async throws {
      let notifier = ChangeNotifier()
      let path = try file(0)
      let one = FileChanges(of: path, by: notifier)
      do {
        let two = FileChanges(of: path, by: notifier)
        #expect(notifier.count == 1)
        try change(path)
        await two.wait(atMost: far)
      }
      await one.wait(atMost: far)
      try change(path)
      await one.wait(atMost: far)
    }

    @Test("SCL-2 JRN-1 after a rename over a file, the new one is watched apart from the old")
    func replaced() async throws {
      let notifier = ChangeNotifier()
      let (path, other) = (try file(0), try file(1))
      let old = FileChanges(of: path, by: notifier)
      #expect(rename(other, path) == 0)
      await old.wait(atMost: far)
      let new = FileChanges(of: path, by: notifier)
      try change(path)
      await new.wait(atMost: far)
      // The system has ended the watch of the old file, whose reader has to end too.
      while notifier.count > 1 { await Task.yield() }
      withExtendedLifetime(old) {}
    }

    @Test("SCL-2 a reader that ends gives its watch back")
    func ended() throws {
      let notifier = ChangeNotifier()
      var watched = try (0..<20).map { FileChanges(of: try file($0), by: notifier) }
      #expect(notifier.count == 20)
      watched.removeLast(15)
      #expect(notifier.count == 5)
      watched = []
      #expect(notifier.count == 0)
    }

    @Test("SCL-2 JRN-1 a file beyond the system's limit is not watched, and its wait ends by time")
    func limit() async throws {
      let notifier = ChangeNotifier(limit: 2)
      var watched = try (0..<2).map { FileChanges(of: try file($0), by: notifier) }
      let third = FileChanges(of: try file(2), by: notifier)
      #expect(watched.allSatisfy { $0.isNotified })
      #expect(!third.isNotified && third.isNotifiedOfAll == false)
      await third.wait(atMost: .milliseconds(1))
      watched.removeLast()
      let fourth = FileChanges(of: try file(3), by: notifier)
      #expect(fourth.isNotified)
      try change(scratch.file("3"))
      await fourth.wait(atMost: far)
    }

    @Test("SCL-2 JRN-1 events are read one after the other, with names, and a full queue is seen")
    func events() {
      func event(_ watch: Int32, _ mask: Int32, name: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in [UInt32(bitPattern: watch), UInt32(mask), 0, UInt32(name.count)] {
          withUnsafeBytes(of: word) { bytes += $0 }
        }
        return bytes + name
      }
      let bytes =
        event(3, 0x2, name: [97, 0, 0, 0]) + event(4, 0x8000) + event(3, 0x4) + [1, 0, 0, 0]
      let read = bytes.withUnsafeBytes { InotifyEvents($0) }
      #expect(read.changed == [3, 4] && read.ended == [4] && !read.hasLost)
      let full = event(-1, 0x4000).withUnsafeBytes { InotifyEvents($0) }
      #expect(full.hasLost)
    }
  }
#endif
