import Dispatch
import Foundation
import ReplayCommands
import Synchronization

/// The demo's output and exit; its secrets are removed however it ends.
enum Stage {
  private static let secrets = Mutex<URL?>(nil)

  /// Prepares for signals and for a run that hangs: each ends the demo in order.
  ///
  /// SIGPIPE is ignored, so that a closed pipe is an error of `write`.
  static func prepare(deadline seconds: Int) {
    signal(SIGPIPE, SIG_IGN)
    _ = wake
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // A signal handler may do no more; a thread at the other end of the pipe does the rest.
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(Stage.wake.writing, &byte, 1)
      }
    }
    Thread {
      var byte = UInt8(0)
      if read(wake.reading, &byte, 1) == 1 { leave(128 + Int32(byte)) }
    }.start()
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
      fail("the demo did not end within \(seconds) s", 1)
    }
  }

  private static let wake: (reading: Int32, writing: Int32) = {
    var ends: [Int32] = [-1, -1]
    return pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
  }()

  /// Returns a folder for secrets that is removed at the end of the demo.
  static func secretsFolder() -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "sessiondemo-secrets-\(UUID().uuidString)")
    secrets.withLock { $0 = folder }
    return folder
  }

  /// Prints a line at once, in order with other output.
  static func say(_ line: String) {
    let output = DescriptorOutput(descriptor: STDOUT_FILENO)
    do throws(OutputFailure) {
      try output.write(line + "\n")
    } catch {
      switch error {
      case .closed: leave(0)
      case .refused: leave(74)
      }
    }
  }

  /// Prints a problem to standard error, and ends the process.
  static func fail(_ problem: String, _ code: Int32) -> Never {
    let errors = DescriptorOutput(descriptor: STDERR_FILENO)
    do throws(OutputFailure) {
      try errors.write("Error: \(problem)\n")
    } catch {
      // Standard error cannot be written either, so only the exit code is left.
    }
    leave(code)
  }

  /// Removes the secrets and ends the process.
  static func leave(_ code: Int32) -> Never {
    clear()
    exit(code)
  }

  /// Removes the secrets.
  static func clear() {
    guard let folder = secrets.withLock({ $0.take() }),
      FileManager.default.fileExists(atPath: folder.path)
    else { return }
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      fail("the demo's secrets could not be removed from \(folder.path)", 74)
    }
  }
}
