import SessionCore
import SessionJournal

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the operating system reports about processes and about its own start.
enum ProcessStatus {
  /// The number of this process.
  static var own: UInt32 { UInt32(bitPattern: getpid()) }

  /// Returns what the system reports about a process number in this process's namespace; `nil` for
  /// no answer.
  static func number(_ process: UInt32) -> ProcessEvidence.Number? {
    let number = pid_t(bitPattern: process)
    guard number > 0 else { return nil }
    if kill(number, 0) == -1, errno == ESRCH { return .unused }
    return .used(start: start(of: process))
  }

  /// The identifier of the system's current boot; `nil` if the system does not report one.
  ///
  /// A process does not outlive the boot, so it is read once.
  static let boot: Identifier? = {
    #if canImport(Darwin)
    var text = [CChar](repeating: 0, count: 64)
    var length = text.count
    guard sysctlbyname("kern.bootsessionuuid", &text, &length, nil, 0) == 0 else { return nil }
    return identifier(text.map(UInt8.init(bitPattern:)))
    #else
    return contents(of: "/proc/sys/kernel/random/boot_id").flatMap(identifier)
    #endif
  }()

  /// The namespace in which this process's number and start time are valid; `nil` if the system
  /// does not report it.
  ///
  /// Apple's systems have one namespace for all processes.
  static var namespace: Identifier? {
    #if canImport(Darwin)
    return "system"
    #else
    guard let numbers = link("/proc/self/ns/pid") else { return nil }
    // A kernel without time namespaces has one time for all processes.
    return Identifier(numbers + "+" + (link("/proc/self/ns/time") ?? ""))
    #endif
  }

  /// Returns when a process started, in the system's own unit; 0 if that is not known.
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
    // The folder may show the numbers of another namespace. It always shows the own process.
    guard isOwn || showsOwnNumbers,
      let text = contents(of: "/proc/\(isOwn ? "self" : String(process))/stat")
    else { return 0 }
    // The name, in parentheses, may contain any characters. The start time is the 20th field
    // after it.
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
    // The line has one number for each namespace, from that of the folder to that of the process.
    let line = status.split(separator: UInt8(ascii: "\n"))
      .first { $0.starts(with: Array("NSpid:".utf8)) }
    return line?.dropFirst(6).split { $0 <= UInt8(ascii: " ") }.count == 1
  }

  private static func contents(of path: String) -> [UInt8]? {
    let file = openDescriptor(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 4_096)
    let length = read(file, &text, text.count)
    return length > 0 ? Array(text.prefix(length)) : nil
  }

  /// Returns the digits in the target of a link of `/proc`, such as `pid:[4026531836]`.
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
