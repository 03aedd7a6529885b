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

  /// What the system says of a process number in this process's own namespace; `nil` if nothing.
  static func number(_ process: UInt32) -> ProcessEvidence.Number? {
    let number = pid_t(bitPattern: process)
    guard number > 0 else { return nil }
    if kill(number, 0) == -1, errno == ESRCH { return .unused }
    return .used(start: start(of: process))
  }

  /// Which start of the system this is; `nil` if it does not say.
  static var boot: Identifier? {
    #if canImport(Darwin)
      var text = [CChar](repeating: 0, count: 64)
      var length = text.count
      guard sysctlbyname("kern.bootsessionuuid", &text, &length, nil, 0) == 0 else { return nil }
      return identifier(text.map(UInt8.init(bitPattern:)))
    #else
      return contents(of: "/proc/sys/kernel/random/boot_id").flatMap(identifier)
    #endif
  }

  /// In which namespace this process's number and start time count; `nil` if the system does not say.
  ///
  /// Apple's systems have one for all processes.
  static var namespace: Identifier? {
    #if canImport(Darwin)
      return "system"
    #else
      guard let numbers = link("/proc/self/ns/pid") else { return nil }
      // A kernel without time namespaces has one time for all.
      return Identifier(numbers + "+" + (link("/proc/self/ns/time") ?? ""))
    #endif
  }

  /// When a process started, as the system counts it; 0 if that is not known.
  static func start(of process: UInt32) -> UInt64 {
    #if canImport(Darwin)
      var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, Int32(bitPattern: process)]
      var found = kinfo_proc()
      var length = MemoryLayout<kinfo_proc>.stride
      guard sysctl(&name, UInt32(name.count), &found, &length, nil, 0) == 0, length > 0 else {
        return 0
      }
      let start = found.kp_proc.p_starttime
      return UInt64(clamping: start.tv_sec) * 1_000_000 + UInt64(clamping: start.tv_usec)
    #else
      let isOwn = process == own
      // The folder may show the numbers of another namespace; its own process it always finds.
      guard isOwn || showsOwnNumbers,
        let text = contents(of: "/proc/\(isOwn ? "self" : String(process))/stat")
      else { return 0 }
      // The name, in parentheses, may hold anything: the 20th field behind it is the start.
      let fields = text[(text.lastIndex(of: UInt8(ascii: ")")) ?? text.startIndex)...]
        .split(separator: UInt8(ascii: " "))
      return fields.count > 20 ? UInt64(String(decoding: fields[20], as: UTF8.self)) ?? 0 : 0
    #endif
  }

  private static func identifier(_ bytes: [UInt8]) -> Identifier? {
    let digits = bytes.prefix { $0 > UInt8(ascii: " ") }
    return digits.isEmpty
      ? nil : Identifier(String(decoding: digits, as: UTF8.self).lowercased())
  }

  #if !canImport(Darwin)
    /// Whether `/proc` shows processes by the numbers of this process's namespace.
    private static var showsOwnNumbers: Bool {
      guard let status = contents(of: "/proc/self/status") else { return false }
      // From the namespace of the folder to that of the process, one number for each.
      let line = status.split(separator: UInt8(ascii: "\n"))
        .first { $0.starts(with: Array("NSpid:".utf8)) }
      return line?.dropFirst(6).split { $0 <= UInt8(ascii: " ") }.count == 1
    }

    private static func contents(of path: String) -> [UInt8]? {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var text = [UInt8](repeating: 0, count: 4_096)
      let length = read(file, &text, text.count)
      return length > 0 ? Array(text.prefix(length)) : nil
    }

    /// The digits of what a link of `/proc` leads to, such as `pid:[4026531836]`.
    private static func link(_ path: String) -> String? {
      var text = [CChar](repeating: 0, count: 64)
      let length = readlink(path, &text, text.count)
      guard length > 0 else { return nil }
      let digits = text.prefix(length).map(UInt8.init(bitPattern:))
        .filter { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
    }
  #endif
}
