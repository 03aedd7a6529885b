import ChildProcesses
import Foundation
import Synchronization
import Testing

@testable import SessionJournal

@Suite("The file of locks of open journals")
struct AliveFileTests {
  private static let isLinux: Bool = {
    #if os(Linux)
    return true
    #else
    return false
    #endif
  }()

  /// The files of these tests, apart from those of the process: other tests hold locks there.
  private let files = AliveFiles()

  private func take(_ path: String, _ byte: UInt64) -> AliveFile? {
    AliveFile.take(beside: path, byte: byte, options: .init(), in: files)
  }

  private func lock(_ path: String, _ byte: UInt64) -> AliveFile.Lock? {
    AliveFile.ask(beside: path, byte: byte, options: .init())?.lock
  }

  @Test("REF-9 an opening holds the lock on its own byte until it ends", .enabled(if: isLinux))
  func ownByte() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    #expect(lock(path, 5) == nil, "there is no file")
    let one = try #require(take(path, 5))
    var two = take(path, .max >> 1)
    #expect(two?.identity == one.identity)
    #expect(lock(path, 5) == .held && lock(path, .max >> 1) == .held && lock(path, 6) == .free)
    #expect(take(path, 5) == nil, "it is taken")
    one.release()
    one.release()
    #expect(lock(path, 5) == .free && lock(path, .max >> 1) == .held)
    two = nil
    #expect(lock(path, .max >> 1) == .free)
    let mode = try FileManager.default.attributesOfItem(atPath: path + ".alive")[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o600)
  }

  @Test(
    "REF-9 a lock that is not taken leaves no file open, also if the file is replaced meanwhile",
    .enabled(if: isLinux))
  func closesRefused() async throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    let one = try #require(take(path, 5))
    for _ in 0..<3 { #expect(take(path, 5) == nil) }
    #expect(try openFiles(of: path) == 1)
    one.release()
    await withTaskGroup { group in
      for byte in 6..<8 as Range<UInt64> {
        group.addTask {
          for _ in 0..<3_000 {
            take(path, byte)?.release()
          }
        }
      }
      group.addTask {
        for _ in 0..<6_000 {
          unlink(path + ".alive")
          close(open(path + ".alive", O_RDWR | O_CREAT, 0o600))
        }
      }
    }
    #expect(try openFiles(of: path) == 0)
  }

  /// The number of descriptors of the file of locks, also if it was removed since.
  private func openFiles(of path: String) throws -> Int {
    try descriptors(endingIn: path.suffix(48) + ".alive").count
  }

  @Test(
    "REF-9 a lock that was released is free although a child process has inherited the file",
    .enabled(if: isLinux))
  func inherited() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    let one = try #require(take(path, 5))
    let descriptor = try #require(try descriptors(endingIn: path.suffix(48) + ".alive").first)
    let child = try sleeper(with: descriptor)
    one.release()
    #expect(lock(path, 5) == .free)
    child.send(SIGKILL)
    child.waitUntilExit()
  }

  @Test("REF-9 another process's lock is seen and ends with that process", .enabled(if: isLinux))
  func otherProcess() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    // An implementation in another language also checks the numbers of the calls.
    let program = """
      import fcntl, os, struct, sys
      file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
      fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 << 40, 1, 0))
      print("held", flush=True)
      sys.stdin.read()
      """
    let (input, output) = (Pipe(), Pipe())
    let holder = try ChildProcess(
      "/usr/bin/env", ["python3", "-c", program, path + ".alive"], input: .pipe(input),
      output: .pipe(output))
    // It reports when it holds the lock; the line may arrive in pieces.
    #expect(try output.fileHandleForReading.read(upToCount: 1)?.isEmpty == false)
    #expect(lock(path, 1 << 40) == .held && lock(path, 1 << 41) == .free)
    holder.send(SIGKILL)
    holder.waitUntilExit()
    #expect(lock(path, 1 << 40) == .free)
  }

  @Test("REF-9 a lock file that was exchanged counts as another file", .enabled(if: isLinux))
  func exchanged() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    let one = try #require(take(path, 5))
    try FileManager.default.removeItem(atPath: path + ".alive")
    #expect(lock(path, 5) == nil)
    let two = try #require(take(path, 6))
    let asked = try #require(AliveFile.ask(beside: path, byte: 5, options: .init()))
    #expect(asked.lock == .free && asked.file == two.identity && asked.file != one.identity)
  }

  @Test(
    "SCL-2 REF-9 the openings of many journals share a file and a descriptor", .enabled(if: isLinux)
  )
  func shared() throws {
    let scratch = try TemporaryFolder()
    let paths = (0..<30).map { scratch.file("\($0).journal") }
    var held = paths.enumerated().map { take($1, UInt64($0)) }
    #expect(held.allSatisfy { $0 != nil && $0?.identity == held[0]?.identity })
    #expect(files.count == 1)
    for (number, path) in paths.enumerated() { #expect(lock(path, UInt64(number)) == .held) }
    held[3]?.release()
    #expect(lock(paths[3], 3) == .free && lock(paths[4], 4) == .held)
    // A name that was removed is no name of the others.
    try FileManager.default.removeItem(atPath: paths[29] + ".alive")
    let last = try #require(take(paths[29], 99))
    #expect(last.identity == held[0]?.identity || files.count == 2)
    #expect(lock(paths[29], 99) == .held && lock(paths[28], 28) == .held)
    last.release()
    held = []
    #expect(files.count == 0)
    for (number, path) in paths.enumerated() { #expect(lock(path, UInt64(number)) != .held) }
  }

  @Test("SCL-2 REF-9 a process that finds the shared file opens it once", .enabled(if: isLinux))
  func foundShared() throws {
    let scratch = try TemporaryFolder()
    let paths = (0..<10).map { scratch.file("\($0).journal") }
    let mine = paths.enumerated().map { take($1, UInt64($0)) }
    let others = AliveFiles()
    let theirs = paths.enumerated().map {
      AliveFile.take(beside: $1, byte: UInt64(100 + $0), options: .init(), in: others)
    }
    #expect(theirs.allSatisfy { $0 != nil } && others.count == 1)
    #expect(AliveFile.take(beside: paths[0], byte: 7, options: .init(), in: others) == nil)
    withExtendedLifetime(mine) {}
  }

  @Test(
    "SCL-2 a file takes a limited number of locks, and the next opening another file",
    .enabled(if: isLinux))
  func most() throws {
    let scratch = try TemporaryFolder()
    let held = (0...AliveFiles.mostLocks).map { take(scratch.file("\($0).journal"), UInt64($0)) }
    #expect(held.allSatisfy { $0 != nil })
    #expect(files.count == 2)
  }

  @Test(
    "SCL-2 REF-9 files that were there before are opened up to a limit, and shared beyond it",
    .enabled(if: isLinux))
  func limit() throws {
    let scratch = try TemporaryFolder()
    let files = AliveFiles(most: 2)
    func take(_ name: String, _ byte: UInt64) -> AliveFile? {
      AliveFile.take(beside: scratch.file(name), byte: byte, options: .init(), in: files)
    }
    for name in ["a", "b", "c"] { _ = try scratch.write([], to: name + ".alive") }
    let held = [take("a", 1), take("b", 2)]
    #expect(held.allSatisfy { $0 != nil } && files.count == 2)
    #expect(take("c", 3) == nil && files.count == 2)
    #expect(lock(scratch.file("c"), 3) == .free)
    // A second opening of the same file and a new directory need no descriptor.
    let more = [take("a", 4), take("new", 5)]
    #expect(more.allSatisfy { $0 != nil } && files.count == 2)
    held[0]?.release()
    more[0]?.release()
    withExtendedLifetime(more) {
      #expect(files.count == 2 - (more[1]?.identity == held[0]?.identity ? 0 : 1))
    }
  }

  @Test(
    "SCL-2 REF-9 a disk that does not answer delays no opening and no end on another disk",
    .enabled(if: isLinux))
  func stuck() throws {
    let scratch = try TemporaryFolder()
    let (slow, fast) = (scratch.file("slow"), scratch.file("fast"))
    let (isLooking, answer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let files = AliveFiles { path in
      guard path == slow + ".alive" else { return }
      isLooking.signal()
      answer.wait()
    }
    @Sendable func take(_ path: String, _ byte: UInt64) -> AliveFile? {
      AliveFile.take(beside: path, byte: byte, options: .init(), in: files)
    }
    let (isSlowDone, isFastDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue.global().async {
      if let held = take(slow, 1),
        AliveFile.ask(beside: slow, byte: 1, options: .init())?.lock == .held
      {
        held.release()
        isSlowDone.signal()
      }
    }
    isLooking.wait()
    DispatchQueue.global().async {
      if let held = take(fast, 2) {
        held.release()
        isFastDone.signal()
      }
    }
    #expect(isFastDone.wait(timeout: .now() + 20) == .success)
    answer.signal()
    #expect(isSlowDone.wait(timeout: .now() + 20) == .success)
    #expect(files.count == 0)
  }

  @Test(
    "SCL-2 REF-9 a file stays open while it gets another name, though its last lock is released",
    .enabled(if: isLinux))
  func usedMeanwhile() throws {
    let scratch = try TemporaryFolder()
    let last = Mutex<AliveFile?>(nil)
    let files = AliveFiles { path in
      if path.hasSuffix("b.alive") { last.withLock { $0 }?.release() }
    }
    let first = try #require(
      AliveFile.take(beside: scratch.file("a"), byte: 1, options: .init(), in: files))
    last.withLock { $0 = first }
    let second = try #require(
      AliveFile.take(beside: scratch.file("b"), byte: 2, options: .init(), in: files))
    #expect(second.identity == first.identity && files.count == 1)
    #expect(lock(scratch.file("a"), 1) == .free && lock(scratch.file("b"), 2) == .held)
    second.release()
    #expect(files.count == 0)
  }

  @Test("REF-9 without a lock file, no lock is held and nothing fails")
  func refused() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    try FileManager.default.createDirectory(
      atPath: path + ".alive", withIntermediateDirectories: false)
    #expect(take(path, 5) == nil)
    #expect(take(scratch.journal + "/no/a", 5) == nil)
    #expect(lock(scratch.journal + "/no/a", 5) == nil)
  }

  @Test("JRN-1 REF-9 the file is deleted with its journal, and only then", .enabled(if: isLinux))
  func deleted() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    let journal = try Journal.open(at: path) { _, _ in }
    let one = try #require(take(path, 5))
    try journal.close()
    try Journal.deleteKept(at: path)
    #expect(FileManager.default.fileExists(atPath: path + ".alive"))
    one.release()
    try Journal.delete(at: path)
    #expect(!FileManager.default.fileExists(atPath: path + ".alive"))
  }
}
