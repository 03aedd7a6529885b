internal import Dispatch
internal import SessionJournal
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A file that a command creates: complete and durable under its name, or absent.
///
/// The text is written to a draft next to the target, of mode 0600. The draft gets the target's
/// name after all of it is durable. If the value is released before, the draft is removed.
final class OutputFile: TextOutput {
  /// The part of a draft's name between the file's own name and the process's number.
  static let draftInfix = ".partial-"

  /// The target's path.
  let path: String
  /// The draft's path.
  let draft: String

  private let mayReplace: Bool
  /// The draft's descriptor; −1 once it is closed.
  private var descriptor: Int32
  /// The folder of the target, opened before anything is written.
  private let folder: Int32
  /// Whether the file has its name; if so, it stays, even if something fails later.
  private(set) var isNamed = false
  /// Whether the file replaced another one.
  private var hasReplaced = false
  /// The syncs of the draft.
  private let syncs = Syncs()
  /// The bytes that were written since the last sync began; `nil` if there was no sync.
  private var unsynced: Int?
  /// How many bytes are worth a sync while more are written.
  private static let syncedSize = 2 << 20

  /// Creates a draft for the file at `path`.
  ///
  /// `path` may exist only if `overwrite` is true. It may not be one of `inputs`, the paths of
  /// files that are read.
  ///
  /// Throws `exists`, `sameFile` or `cannotCreate`; then no file was created.
  init(_ path: String, overwrite: Bool, inputs: [String] = []) throws(ToolError) {
    guard !path.isEmpty else { throw Self.refused(path, ENOENT) }
    // The system would end the path at a NUL, and so use another one.
    guard !path.utf8.contains(0) else { throw Self.refused(path, EINVAL) }
    try Self.check(path, overwrite, inputs)
    let folder = try Self.openedFolder(of: path)
    self.path = path
    mayReplace = overwrite
    var number = 0
    repeat {
      let name = path + Self.draftInfix + "\(getpid())" + (number == 0 ? "" : "-\(number)")
      let found = openDescriptor(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      if found >= 0 {
        // The process's mask may have removed bits. A file system without modes returns an error.
        guard fchmod(found, 0o600) == 0 || errno == EPERM || errno == ENOTSUP else {
          let code = errno
          close(found)
          unlink(name)
          close(folder)
          throw Self.refused(path, code)
        }
        descriptor = found
        draft = name
        self.folder = folder
        return
      }
      number += 1
    } while (errno == EEXIST && number < 1_000) || errno == EINTR
    let code = errno
    close(folder)
    throw Self.refused(path, code)
  }

  deinit {
    // A sync may take long, and a second signal ends the process at once.
    if !isNamed { unlink(draft) }
    _ = syncs.finish()
    if descriptor >= 0 { close(descriptor) }
    close(folder)
  }

  var isTerminal: Bool { false }
  var width: Int? { nil }

  func probe() {}

  func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure) {
    unsynced = (unsynced ?? 0) + bytes.count
    try DescriptorOutput(descriptor: descriptor).write(bytes)
  }

  /// Starts to make durable what was written, while the caller goes on.
  ///
  /// If more will be written, it waits until a sync is worth it and no other one is under way.
  func synchronize(isLast: Bool) {
    guard isLast || (unsynced ?? 0) >= Self.syncedSize && !syncs.isBusy else { return }
    unsynced = 0
    syncs.start(descriptor)
  }

  /// Returns `count` written bytes from `offset` on; fewer only at the end.
  func bytes(_ count: Int, at offset: UInt64) throws(ToolError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        pread(
          descriptor, buffer.baseAddress.map { $0 + done }, count - done,
          off_t(clamping: offset + UInt64(done)))
      }
      if got == 0 { break }
      guard got > 0 || errno == EINTR else { throw Self.failed(path, errno) }
      done += max(0, got)
    }
    return Array(bytes[..<done])
  }

  /// Makes the file durable and gives it its name.
  ///
  /// Throws:
  /// - `exists` if another file took the name meanwhile,
  /// - `cannotCreate` if the system refuses the name,
  /// - `output` if the system fails to write or sync.
  ///
  /// If the file has its name then (`isNamed`), it is complete. Otherwise the draft is removed with
  /// this value.
  func finish() throws(ToolError) {
    if unsynced != 0 { syncs.start(descriptor) }
    let code = syncs.finish()
    guard code == 0 else { throw Self.failed(path, code) }
    let closed = descriptor
    descriptor = -1
    guard close(closed) == 0 || errno == EINTR else { throw Self.failed(path, errno) }
    do throws(ToolError) {
      if mayReplace {
        var found = stat()
        hasReplaced = lstat(path, &found) == 0
        guard rename(draft, path) == 0 else { throw Self.refused(path, errno) }
      } else {
        try takeName()
      }
    } catch {
      var error = error
      if !isNamed { error.consequence = "What was written for it was removed again." }
      throw error
    }
    isNamed = true
    try synchronizeFolder()
  }

  /// Removes the named file; returns false if it replaced another file, or the system refuses.
  ///
  /// Requires that the file has its name.
  func withdraw() -> Bool {
    guard isNamed, !hasReplaced, unlink(path) == 0 else { return false }
    fsync(folder)
    return true
  }

  /// Takes the name only if it is free.
  private func takeName() throws(ToolError) {
    if link(draft, path) == 0 {
      isNamed = true
      guard unlink(draft) == 0 else {
        let code = errno
        throw ToolError(
          .inputOutput, .output,
          "The system refused to remove \(draft.quotedWhereNeeded): \(systemMessage(code)) "
            + "(errno \(code)).",
          consequence: "\(path.quotedWhereNeeded) is there and whole; the other is the same file.",
          next: "rm \(draft.quotedWhereNeeded)")
      }
      return
    }
    switch errno {
    case EEXIST: throw Self.exists(path)
    // The file system has no hard links, or has no room for another one.
    case EPERM, ENOTSUP, ENOSYS, EMLINK:
      try Self.check(path, false, [])
      guard rename(draft, path) == 0 else { throw Self.refused(path, errno) }
    case let code: throw Self.refused(path, code)
    }
  }

  private func synchronizeFolder() throws(ToolError) {
    while fsync(folder) != 0 {
      // Some file systems have nothing to sync in a folder.
      if errno == EINVAL || errno == ENOTSUP { return }
      let code = errno
      guard code == EINTR else {
        throw ToolError(
          .inputOutput, .output,
          "The system refused to make the name of \(path.quotedWhereNeeded) durable: "
            + "\(systemMessage(code)) (errno \(code)).",
          consequence: "The file is there and whole; a power cut may take it away again.",
          next: "check the disk")
      }
    }
  }

  /// Returns whether both targets are the same name in the same folder, however the paths are
  /// spelled.
  ///
  /// Names that differ only in case are one file on some disks, so they count as the same on all.
  func isAtPlace(of other: OutputFile) -> Bool {
    var (mine, others) = (stat(), stat())
    guard fstat(folder, &mine) == 0, fstat(other.folder, &others) == 0 else { return true }
    return mine.st_dev == others.st_dev && mine.st_ino == others.st_ino
      && Self.parts(path).name.lowercased() == Self.parts(other.path).name.lowercased()
  }

  private static func parts(_ path: String) -> (folder: String, name: Substring) {
    switch path.lastIndex(of: "/") {
    case nil: (".", path[...])
    case path.startIndex?: ("/", path.dropFirst())
    case let slash?: (String(path[..<slash]), path[path.index(after: slash)...])
    }
  }

  /// Opens the folder of the target.
  ///
  /// This comes first: without it no name can be made durable.
  private static func openedFolder(of path: String) throws(ToolError) -> Int32 {
    let opened = openDescriptor(parts(path).folder, O_RDONLY | O_DIRECTORY)
    guard opened < 0 else { return opened }
    guard errno == EACCES || errno == EPERM else { throw refused(path, errno) }
    throw ToolError(
      .cannotCreate, .cannotCreate,
      "\(path.quotedWhereNeeded) cannot be made: this user may not open its folder, and so not make a "
        + "name in it durable.",
      consequence: "Nothing was written.", next: "a folder that this user may list and write to")
  }

  private static func check(_ path: String, _ overwrite: Bool, _ inputs: [String])
    throws(ToolError)
  {
    var found = stat()
    guard lstat(path, &found) == 0 else {
      guard errno == ENOENT else { throw refused(path, errno) }
      return
    }
    var target = stat()
    if stat(path, &target) == 0 {
      for input in inputs {
        var read = stat()
        if stat(input, &read) == 0, read.st_dev == target.st_dev, read.st_ino == target.st_ino {
          throw ToolError(
            .cannotCreate, .sameFile,
            "\(path.quotedWhereNeeded) is the file that is read.",
            consequence: "Nothing was written.", next: "another name for the output")
        }
      }
    }
    guard overwrite else { throw exists(path) }
    guard found.st_mode & S_IFMT == S_IFREG || found.st_mode & S_IFMT == S_IFLNK else {
      throw ToolError(
        .cannotCreate, .cannotCreate,
        "\(path.quotedWhereNeeded) is a folder, device or pipe and is not replaced by a file.",
        consequence: "Nothing was written.",
        next: "the name of a file, or - for standard output")
    }
  }

  private static func exists(_ path: String) -> ToolError {
    ToolError(
      .cannotCreate, .exists, "There is something at \(path.quotedWhereNeeded) already.",
      consequence: "Nothing was written.", next: "another name, or --force to replace it")
  }

  private static func refused(_ path: String, _ code: Int32) -> ToolError {
    ToolError(
      .cannotCreate, .cannotCreate,
      "\(path.quotedWhereNeeded) cannot be made: \(systemMessage(code)) (errno \(code)).",
      consequence: "Nothing was written.", next: "a name in a folder that can be written to")
  }

  /// Returns the error for a file of which the system wrote only a part.
  static func failed(_ path: String, _ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, .output,
      "The system refused to write \(path.quotedWhereNeeded): \(systemMessage(code)) (errno \(code)).",
      consequence: "Nothing is left of it.", next: "a place with more room")
  }
}

extension OutputFile {
  /// Runs `body` with the output that `-o` names, and then gives the file its name; `-` is standard
  /// output.
  ///
  /// No file is left if `body` throws, writing fails or the command must end.
  static func write<Value>(
    to path: String, overwrite: Bool, inputs: [String], _ context: ToolContext,
    _ body: (Output) throws(ToolError) -> Value
  ) throws(ToolError) -> Value {
    guard path != "-" else { return try body(context.output) }
    let file = try OutputFile(path, overwrite: overwrite, inputs: inputs)
    let output = Output(file, interruption: context.interruption)
    let value: Value
    do throws(ToolError) {
      value = try body(output)
    } catch {
      // The output's failure ended the command, so it is the error to report.
      if let failure = output.failure { throw failed(path, failure.code) }
      throw error
    }
    output.flush()
    if let failure = output.failure { throw failed(path, failure.code) }
    try requireGoingOn(context)
    try file.finish()
    return value
  }

  /// Throws if the command must end; the tool prints nothing about this error.
  static func requireGoingOn(_ context: ToolContext) throws(ToolError) {
    try context.interruption.requireGoingOn()
  }
}

/// The syncs of a file, one after the other in another thread.
///
/// The system reports a failed sync only once, so the first error is kept.
private final class Syncs: Sendable {
  // A queue of its own: a sync would block a thread that other work needs.
  private let queue = DispatchQueue(label: "syncs of an output")
  private let waiting = Atomic<Int>(0)
  private let failure = Atomic<Int32>(0)

  /// Whether a sync has begun and not ended.
  var isBusy: Bool { waiting.load(ordering: .acquiring) > 0 }

  func start(_ descriptor: Int32) {
    waiting.wrappingAdd(1, ordering: .relaxed)
    queue.async { [self] in
      while fsync(descriptor) != 0 {
        guard errno == EINTR else {
          let code = errno
          _ = failure.compareExchange(expected: 0, desired: code, ordering: .relaxed)
          break
        }
      }
      waiting.wrappingSubtract(1, ordering: .releasing)
    }
  }

  /// Waits for all syncs; returns the error of the first that failed, 0 if none did.
  func finish() -> Int32 {
    guard isBusy else { return failure.load(ordering: .relaxed) }
    return queue.sync { failure.load(ordering: .relaxed) }
  }
}
