import ChildProcesses
import Foundation
import Synchronization
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

  /// What a test does after the system has given a watch, before the notifier knows it.
  private final class Step: Sendable {
    private let work = Mutex<(@Sendable () -> Void)?>(nil)

    var notifier: ChangeNotifier {
      ChangeNotifier { instance, path in
        let descriptor = ChangeNotifier.ask(instance, path)
        let next = self.work.withLock { work in
          defer { work = nil }
          return work
        }
        next?()
        return descriptor
      }
    }

    func next(_ step: @escaping @Sendable () -> Void) { work.withLock { $0 = step } }
  }

  @Test("SCL-2 JRN-1 a disk that does not answer delays no watch of a file on another disk")
  func stuck() throws {
    let (isAsked, answer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let notifier = ChangeNotifier { instance, path in
      if path.hasSuffix("0") {
        isAsked.signal()
        answer.wait()
      }
      return ChangeNotifier.ask(instance, path)
    }
    let (slow, fast) = (try file(0), try file(1))
    let isSlowWatched = Mutex(false)
    let (isSlowDone, isFastDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue.global().async {
      let changes = FileChanges(of: slow, by: notifier)
      isSlowWatched.withLock { $0 = changes.isNotified && changes.isCurrent }
      isSlowDone.signal()
    }
    isAsked.wait()
    DispatchQueue.global().async {
      let changes = FileChanges(of: fast, by: notifier)
      if changes.isNotified, changes.isCurrent { isFastDone.signal() }
    }
    #expect(isFastDone.wait(timeout: .now() + 20) == .success)
    answer.signal()
    #expect(isSlowDone.wait(timeout: .now() + 20) == .success)
    #expect(isSlowWatched.withLock { $0 })
  }

  @Test("SCL-2 JRN-1 a reader that ends leaves its watch to one that begins meanwhile")
  func endedMeanwhile() throws {
    let (step, isNoted) = (Step(), DispatchSemaphore(value: 0))
    let (notifier, path) = (step.notifier, try file(0))
    let first = try #require(notifier.watch(path) {})
    step.next { notifier.end(first) }
    let second = try #require(notifier.watch(path) { isNoted.signal() })
    #expect(notifier.isLive(second) && notifier.count == 1)
    try change(path)
    #expect(isNoted.wait(timeout: .now() + 10) == .success)
    // The end of the system's watch would be a notice too.
    #expect(notifier.isLive(second))
    // A watch that nothing uses any more ends after the last answer.
    let unused = try file(1)
    let other = try #require(notifier.watch(unused) {})
    #expect(try systemWatches(of: unused) == 1)
    step.next { notifier.end(other) }
    let third = try #require(notifier.watch(path) {})
    #expect(notifier.count == 1 && notifier.isLive(third))
    #expect(try systemWatches(of: unused) == 0)
  }

  /// The number of watches that the system has for a file, for this process.
  private func systemWatches(of path: String) throws -> Int {
    let number = try #require(FileStatus.Identity(at: path)).number
    let folder = "/proc/self/fdinfo"
    return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { count, name in
      // A file that another test has closed meanwhile has no text.
      let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let word = " ino:\(String(number, radix: 16)) "
      return count + lines.count { $0.hasPrefix("inotify ") && $0.contains(word) }
    }
  }

  @Test("SCL-2 JRN-1 a watch of a file that is gone before the watch is known is not live")
  func goneMeanwhile() throws {
    let step = Step()
    let (notifier, path) = (step.notifier, try file(0))
    let first = try #require(notifier.watch(path) {})
    step.next {
      unlink(path)
      while notifier.isLive(first) { usleep(1_000) }
    }
    let second = try #require(notifier.watch(path) {})
    #expect(!notifier.isLive(second) && notifier.count == 0)
    // Nothing of it is left for the next file.
    let third = try #require(notifier.watch(try file(0)) {})
    #expect(notifier.isLive(third) && notifier.count == 1)
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
