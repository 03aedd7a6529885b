internal import SessionJournal

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file or pipe that is read as a whole, up to a limit.
struct SmallFile {
  enum Failure: Error {
    case folder
    case refused(Refusal)
    /// The command must end.
    case interrupted
  }

  enum Refusal {
    case missing
    case forbidden
    case other(Int32)

    fileprivate init(_ code: Int32) {
      switch code {
      case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG: self = .missing
      case EACCES, EPERM: self = .forbidden
      default: self = .other(code)
      }
    }
  }

  /// The first `most` bytes.
  let bytes: [UInt8]
  /// Whether it is a regular file that its group or all users may read.
  let isReadableByOthers: Bool

  init(_ path: String, most: Int, _ interruption: Interruption) throws(Failure) {
    let descriptor = openDescriptor(path, O_RDONLY)
    guard descriptor >= 0 else {
      throw interruption.isRaised ? .interrupted : .refused(Refusal(errno))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .refused(Refusal(errno)) }
    let kind = status.st_mode & S_IFMT
    guard kind != S_IFDIR else { throw .folder }
    isReadableByOthers = kind == S_IFREG && status.st_mode & (S_IRGRP | S_IROTH) != 0
    var bytes = [UInt8](repeating: 0, count: most)
    var size = 0
    while size < most {
      guard !interruption.isRaised else { throw .interrupted }
      let count = bytes.withUnsafeMutableBytes { buffer in
        read(descriptor, buffer.baseAddress.map { $0 + size }, most - size)
      }
      if count == 0 { break }
      if count > 0 {
        size += count
      } else if errno != EINTR {
        throw .refused(Refusal(errno))
      }
    }
    self.bytes = Array(bytes[..<size])
  }
}
