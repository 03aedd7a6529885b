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
  /// Where it is to be.
  let path: String
  /// Where it is until then.
  let draft: String

  private let mayReplace: Bool
  /// −1 once closed.
  private var descriptor: Int32
  private var isFinished = false

  /// A draft for the file at `path`, which may be there only if `overwrite` says so, and may not be one
  /// of `inputs`, the paths of files that are read.
  ///
  /// Throws `exists`, `sameFile` or `cannotCreate`, and then nothing was made.
  init(_ path: String, overwrite: Bool, inputs: [String] = []) throws(ToolError) {
    guard !path.isEmpty else { throw Self.refused(path, ENOENT) }
    self.path = path
    mayReplace = overwrite
    try Self.check(path, overwrite, inputs)
    var number = 0
    repeat {
      let name = "\(path).partial-\(getpid())" + (number == 0 ? "" : "-\(number)")
      let found = name.withCString { start in
        strlen(start) == name.utf8.count
          ? open(start, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600)) : -2
      }
      // A path with a NUL would be another one for the system.
      guard found != -2 else { throw Self.refused(path, EINVAL) }
      if found >= 0 {
        descriptor = found
        draft = name
        // Whatever the process's mask takes away; a file system without modes refuses.
        guard fchmod(found, 0o600) == 0 || errno == EPERM || errno == ENOTSUP else {
          let code = errno
          close(found)
          unlink(name)
          throw Self.refused(path, code)
        }
        return
      }
      number += 1
    } while (errno == EEXIST && number < 1_000) || errno == EINTR
    throw Self.refused(path, errno)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if !isFinished { unlink(draft) }
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
  /// Throws `exists` if something has come to stand there meanwhile, `cannotCreate`, or
  /// `inputOutput` with nothing left but, perhaps, the whole file.
  func finish() throws(ToolError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw Self.failed(path, errno) }
    }
    let closed = descriptor
    descriptor = -1
    guard close(closed) == 0 || errno == EINTR else { throw Self.failed(path, errno) }
    if mayReplace {
      guard rename(draft, path) == 0 else { throw Self.refused(path, errno) }
    } else {
      try takeName()
    }
    isFinished = true
    try synchronizeFolder()
  }

  /// Takes the name only if nobody has it.
  private func takeName() throws(ToolError) {
    if link(draft, path) == 0 {
      guard unlink(draft) == 0 else { throw Self.failed(path, errno) }
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
    let folder =
      switch path.lastIndex(of: "/") {
      case nil: "."
      case path.startIndex?: "/"
      case let slash?: String(path[..<slash])
      }
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw Self.failed(path, errno) }
    defer { close(opened) }
    while fsync(opened) != 0 {
      // Some file systems have nothing to sync in a folder.
      if errno == EINVAL || errno == ENOTSUP { return }
      guard errno == EINTR else { throw Self.failed(path, errno) }
    }
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
            .cannotCreate, "sameFile",
            "\(path.quotedWhereNeeded) is the file that is read.",
            consequence: "Nothing was written.", next: "another name for the output")
        }
      }
    }
    guard overwrite else { throw exists(path) }
    guard found.st_mode & S_IFMT == S_IFREG || found.st_mode & S_IFMT == S_IFLNK else {
      throw ToolError(
        .cannotCreate, "cannotCreate",
        "\(path.quotedWhereNeeded) is a folder, device or pipe and is not replaced by a file.",
        consequence: "Nothing was written.",
        next: "the name of a file, or - for standard output")
    }
  }

  private static func exists(_ path: String) -> ToolError {
    ToolError(
      .cannotCreate, "exists", "There is something at \(path.quotedWhereNeeded) already.",
      consequence: "Nothing was written.", next: "another name, or --force to replace it")
  }

  private static func refused(_ path: String, _ code: Int32) -> ToolError {
    ToolError(
      .cannotCreate, "cannotCreate",
      "\(path.quotedWhereNeeded) cannot be made: \(systemMessage(code)) (errno \(code)).",
      consequence: "Nothing was written.", next: "a name in a folder that can be written to")
  }

  /// The system took some of the file, and not all.
  static func failed(_ path: String, _ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, "output",
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
    let value = try body(output)
    output.flush()
    switch output.failure {
    case .refused(let code)?: throw failed(path, code)
    case .closed?: throw failed(path, EPIPE)
    case nil: break
    }
    try requireGoingOn(context)
    try file.finish()
    return value
  }

  /// Ends a command that was asked to end; nothing is said then.
  static func requireGoingOn(_ context: ToolContext) throws(ToolError) {
    guard let code = context.interruption.code else { return }
    throw ToolError(code, "interrupted", "The command was interrupted.")
  }
}
