internal import CWorkThread

/// Threads for a part of the work of a command.
enum WorkThread {
  /// The number of processors of this process, at most 64.
  static let processors = allowedProcessors()

  /// Returns the number of processors on which this thread may run, at most 64.
  static func allowedProcessors() -> Int { min(64, Int(cworkthread_processors())) }

  /// Runs `body` in a new thread; returns `false` if the system creates none.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Body(run: body))
    let error = cworkthread_start(
      { argument in
        guard let argument else { return }
        Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
      }, work.toOpaque())
    if error != 0 { work.release() }
    return error == 0
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
