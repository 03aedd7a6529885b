internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A program that ran to its end, and its duration.
struct Spawned {
  let seconds: Double
  /// The seconds of processor time, in the program and in the system for it.
  let processor: Double

  /// Returns the peak memory of a program in KiB; at least about 10 MiB.
  ///
  /// The system also counts the memory of the process before it became the program, which is a copy
  /// of its parent's. So a small Python process starts the program, and reports its memory.
  static func memory(of words: [String], told file: String) throws -> Double {
    let script = """
      import os, sys
      out = os.open('/dev/null', os.O_WRONLY)
      run = os.posix_spawnp(
          sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
      _, status, used = os.wait4(run, 0)
      print(used.ru_maxrss)
      sys.exit(os.waitstatus_to_exitcode(status))
      """
    _ = try run(["python3", "-c", script] + words, output: file)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    guard let kibibytes = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw Problem("python3 told no memory of \(words.joined(separator: " "))")
    }
    return kibibytes
  }

  /// Runs a program with output to `output`, and waits for its end.
  ///
  /// All contenders run in this way, so the time to start a process is in each of them.
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
    var usage = rusage()
    let duration = try ContinuousClock().measure {
      let code = posix_spawnp(&process, words[0], &actions, nil, arguments, environ)
      guard code == 0 else { throw Problem("\(words[0]) cannot be run: errno \(code)") }
      while wait4(process, &status, 0, &usage) < 0 {
        guard errno == EINTR else { throw Problem("wait4: errno \(errno)") }
      }
    }
    guard status == 0 else { throw Problem("\(words.joined(separator: " ")): status \(status)") }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return Spawned(
      seconds: duration / .seconds(1),
      processor: seconds(usage.ru_utime) + seconds(usage.ru_stime))
  }

  /// Returns whether the system finds a program with this name.
  static func finds(_ name: String) -> Bool {
    do {
      _ = try run([name, "--version"])
      return true
    } catch {
      return false
    }
  }
}
