public import ServiceLifecycle
public import SessionKit

/// A session that opens with a service group and closes at its end (swift-service-lifecycle).
///
/// ```swift
/// let session = SessionService(configuration) { logging.record($0) }
/// let group = ServiceGroup(
///   services: [session, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
/// Put it before the services that use it: a group ends its services in reverse order, and the session must close
/// after the last call. `close()` waits for a request for a token at most `policy.refresh.timeout`. Give the
/// process more time than that before it is killed.
public final class SessionService: Service, Sendable {
  private let opening: SessionOpening
  private let report: @Sendable (SessionReport) -> Void

  /// Creates a service, and begins to open the session.
  ///
  /// `report` receives each event and each warning, in order. It must not block.
  public init(
    _ configuration: SessionConfiguration,
    report: @escaping @Sendable (SessionReport) -> Void = { _ in }
  ) {
    opening = SessionOpening(configuration)
    self.report = report
  }

  /// The session, after it was opened.
  ///
  /// Waits for a disk that comes later, or for a store that is locked.
  public var session: Session {
    get async throws(SessionError) { try await opening.session() }
  }

  /// Opens the session, reports until a graceful shutdown or a cancellation, and closes it.
  ///
  /// Throws the error of the opening. Throws `storage` if a response could not be stored at the end: log that
  /// error, because it explains a later end of the session.
  public func run() async throws {
    do {
      _ = try await cancelWhenGracefulShutdown { [opening] in try await opening.session() }
    } catch  where Task.isCancelled || Task.isShuttingDownGracefully {
      // The session may be open all the same.
    }
    guard case .open(let session) = opening.status else { return }
    let reports = session.reports
    let reporting = Task { [report] in
      for try await next in reports { report(next) }
    }
    // Both a shutdown and a cancellation lead to a close.
    do { try await gracefulShutdown() } catch is CancellationError {}
    // A task of its own, because this one may be cancelled.
    try await Task { _ = try await session.close() }.value
    // The reports end with the session, so that none is left out.
    try await reporting.value
  }
}
