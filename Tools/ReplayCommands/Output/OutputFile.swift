#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file that a command makes: whole and durable under its name, or not there at all.
///
/// Written to a draft beside the target, of mode 0600, which gets the name when all of it is on the
/// medium. Whoever lets go of an unfinished one removes the draft.
final class OutputFile: TextOutput {
  /// What a draft's name has between the file's own name and the process's number.
  static let draftInfix = ".partial-"

  /// Where it is to be.
  let path: String
  /// Where it is until then.
  let draft: String

  private let mayReplace: Bool
  /// −1 once closed.
  private var descriptor: Int32
  /// The folder of the target, open before anything is written.
  private let folder: Int32
  /// Whether the file has its name; then it stays, whatever comes.
  private(set) var isNamed = false
  /// Whether something else stood there before.
  private var hasReplaced = false

  /// A draft for the file at `path`, which may be there only if `overwrite` says so, and may not be one
  /// of `inputs`, the paths of files that are read.
  ///
  /// Throws `exists`, `sameFile` or `cannotCreate`, and then nothing was made.
  init(_ path: String, overwrite: Bool, inputs: [String] = []) throws(ToolError) {
    guard !path.isEmpty else { throw Self.refused(path, ENOENT) }
    // A path with a NUL would be another one for the system.
    guard !path.utf8.contains(0) else { throw Self.refused(path, EINVAL) }
    try Self.check(path, overwrite, inputs)
    let folder = try Self.openedFolder(of: path)
    self.path = path
    mayReplace = overwrite
    var number = 0
    repeat {
      let name = path + Self.draftInfix + "\(getpid())" + (number == 0 ? "" : "-\(number)")
      let found = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
      if found >= 0 {
        // Whatever the process's mask takes away; a file system without modes refuses.
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
    if descriptor >= 0 { close(descriptor) }
    close(folder)
    if !isNamed { unlink(draft) }
  }

  var isTerminal: Bool { false }
  var width: Int? { nil }

  func probe() {}

  func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure) {
    try DescriptorOutput(descriptor: descriptor).write(bytes)
  }

  /// Some of what was written, from `offset` on; fewer bytes only at the end.
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

  /// Gives the file its name, when all of it is durable.
  ///
  /// Throws `exists` if something has come to stand there meanwhile, `cannotCreate` or `output`; a file
  /// that has its name then (`isNamed`) is whole, and of any other nothing is left.
  func finish() throws(ToolError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw Self.failed(path, errno) }
    }
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

  /// Takes the name back; false where it cannot be, because something else stood there before.
  ///
  /// To be asked of a file that has its name.
  func withdraw() -> Bool {
    guard isNamed, !hasReplaced, unlink(path) == 0 else { return false }
    fsync(folder)
    return true
  }

  /// Takes the name only if nobody has it.
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
    // Where files have one name only.
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

  /// Whether both are to have one name in one folder, however that is spelled.
  ///
  /// Names that differ in capitals only are one on some disks, and are taken for one on all.
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

  /// Opened first: in a folder that cannot be opened no name could be made durable.
  private static func openedFolder(of path: String) throws(ToolError) -> Int32 {
    let opened = open(parts(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
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

  /// The system took some of the file, and not all.
  static func failed(_ path: String, _ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, .output,
      "The system refused to write \(path.quotedWhereNeeded): \(systemMessage(code)) (errno \(code)).",
      consequence: "Nothing is left of it.", next: "a place with more room")
  }
}

extension OutputFile {
  /// Runs `body` on what an `-o` names, and gives the file its name when all that was printed is
  /// durable; `-` is standard output.
  ///
  /// Where `body` throws, writing fails or the user wants the end, no file is left.
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
      // A file that takes no more ends what is read for it.
      if let failure = output.failure { throw failed(path, failure.code) }
      throw error
    }
    output.flush()
    if let failure = output.failure { throw failed(path, failure.code) }
    try requireGoingOn(context)
    try file.finish()
    return value
  }

  /// Ends a command that was asked to end; nothing is said then.
  static func requireGoingOn(_ context: ToolContext) throws(ToolError) {
    try context.interruption.requireGoingOn()
  }
}
