import SessionExplain

#if canImport(os)
import os
#else
import Backend
#endif

/// Counts ends in the system's log, from which Instruments and `log collect` read them.
///
/// The labels are from closed sets and name no user, so they are public.
struct EndLog {
  #if canImport(os)
  private let logger = Logger(subsystem: "org.example.insight", category: "session")
  private let signposter = OSSignposter(subsystem: "org.example.insight", category: "session")
  #endif

  /// Counts an end.
  func count(_ end: ExplainedEnd) {
    let labels = end.labels.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    #if canImport(os)
    logger.notice("session ended: \(labels, privacy: .public)")
    signposter.emitEvent("session ended", "\(labels, privacy: .public)")
    #else
    say("count: \(labels)")
    #endif
  }
}
