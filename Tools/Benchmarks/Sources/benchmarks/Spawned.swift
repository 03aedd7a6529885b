#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#endif

/// A program that ran to its end: what it took.
struct Spawned {
  let seconds: Double
  /// The most memory that it ever had, in KiB.
  let memory: Double

  /// Runs a program whose output goes to `output`, and waits for its end.
  ///
  /// The peers are run in the same way: what starting takes is in all of them.
  static func run(_ words: [String], output: String = "/dev/null") throws -> Spawned {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    var status: Int32 = 0
    var used = rusage()
    let duration = try ContinuousClock().measure {
      let code = posix_spawnp(&process, words[0], &actions, nil, arguments, environ)
      guard code == 0 else { throw Problem("\(words[0]) cannot be run: errno \(code)") }
      while wait4(process, &status, 0, &used) < 0 {
        guard errno == EINTR else { throw Problem("wait4: errno \(errno)") }
      }
    }
    guard status == 0 else { throw Problem("\(words.joined(separator: " ")): status \(status)") }
    return Spawned(seconds: duration / .seconds(1), memory: Double(used.ru_maxrss))
  }

  /// Whether the system finds a program of this name.
  static func finds(_ name: String) -> Bool {
    do {
      _ = try run([name, "--version"])
      return true
    } catch {
      return false
    }
  }
}
