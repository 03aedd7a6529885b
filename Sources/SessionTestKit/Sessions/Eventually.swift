#if canImport(Testing)
import Foundation
package import Testing

/// The seconds to wait for something: long on a busy machine, and short if failures are expected.
private let patience =
  Double(ProcessInfo.processInfo.environment[PropertySettings.Variable.patience.rawValue] ?? "")
  ?? 240

/// Waits for something that happens on other threads.
///
/// An hour of patience would hide a hang.
package func eventually(
  _ what: Comment, within seconds: Double? = nil, _ isTrue: () throws -> Bool,
  sourceLocation: SourceLocation = #_sourceLocation
) async rethrows {
  let end = Date(timeIntervalSinceNow: seconds ?? patience)
  // A thread that waits long for its turn must still look once after the deadline.
  var looks = 0
  while Date() < end || looks < 400 {
    if try isTrue() { return }
    looks += 1
    do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
  }
  Issue.record(what, sourceLocation: sourceLocation)
}
#endif
