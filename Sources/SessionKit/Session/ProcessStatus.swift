import SessionCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the system says of processes and of its own start.
enum ProcessStatus {
  /// This process.
  static var own: UInt32 { UInt32(bitPattern: getpid()) }

  /// Whether there is certainly no such process any more.
  static func isGone(_ process: UInt32) -> Bool {
    let number = pid_t(bitPattern: process)
    guard number > 0, process != own else { return false }
    return kill(number, 0) == -1 && errno == ESRCH
  }

  /// Which start of the system this is; `nil` where it does not tell.
  static var boot: Identifier? {
    #if canImport(Darwin)
      var text = [CChar](repeating: 0, count: 64)
      var length = text.count
      guard sysctlbyname("kern.bootsessionuuid", &text, &length, nil, 0) == 0 else { return nil }
      return identifier(text.map(UInt8.init(bitPattern:)))
    #else
      let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 64)
      let length = read(file, &text, text.count)
      return length > 0 ? identifier(text) : nil
    #endif
  }

  private static func identifier(_ bytes: [UInt8]) -> Identifier? {
    let digits = bytes.prefix { $0 > UInt8(ascii: " ") }
    return digits.isEmpty
      ? nil : Identifier(String(decoding: digits, as: UTF8.self).lowercased())
  }
}
