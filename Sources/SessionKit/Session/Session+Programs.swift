import Foundation

// The end of a program that lives for seconds: a command-line tool, an extension, a job.
extension Session {
  /// Closes this object as ``close()`` does, but waits no longer than `limit`.
  ///
  /// If the limit passes first, the close goes on as long as the process lives, and this returns
  /// `false`. A process that ends then may lose the response to a refresh. A server that ends the
  /// session at the second use of a refresh token signs the user out at the next refresh. So allow
  /// as much time as the server may need.
  ///
  /// - Parameter limit: rounded up to milliseconds.
  /// - Returns: `true` if nothing continues.
  /// - Requirement: REF-11
  @discardableResult
  public func close(within limit: Duration) async throws(SessionError) -> Bool {
    // A close that is cancelled goes on.
    let closed = await engine.bounded(by: limit.wholeMilliseconds) {
      [engine] () async throws(SessionError) in try await engine.close()
    }
    return try closed?.get() ?? false
  }

  #if !os(Windows)
  /// Lets a request that is on the wire end, and its response be stored, before a signal ends the
  /// program.
  ///
  /// Without it, Ctrl-C in the middle of a refresh is a kill: the server may have replaced the refresh
  /// token, and the new one is lost. Call it once, after the opening:
  ///
  /// ```swift
  /// let session = try await Session.open(configuration)
  /// session.finishRequests(on: [SIGINT, SIGTERM])
  /// ```
  ///
  /// At the first of these signals the session is closed, and the program ends with the status of that
  /// signal. What waits for the session receives `closed` meanwhile, and the program may end by itself.
  /// At the second one the program ends at once, as it does if the limit passes.
  ///
  /// It does not keep the session: if nothing else does, the signal ends the program at once. The
  /// signals are ignored from then on, and a program that this one starts ignores them too, unless it
  /// is started with the default action (`POSIX_SPAWN_SETSIGDEF`). Do not handle the same signals elsewhere.
  ///
  /// - Parameters:
  ///   - signals: signals whose default action ends a process. One that cannot be handled, such as
  ///     `SIGKILL`, is left out.
  ///   - limit: the longest time from the signal to the end, rounded up to milliseconds.
  /// - Requirement: REF-7, REF-11
  public func finishRequests(on signals: [Int32], within limit: Duration = .seconds(5)) {
    for number in signals {
      // The source sees the signal only if the process ignores it. A source of a number that is no signal
      // would end the process.
      guard unsafeBitCast(signal(number, SIG_IGN), to: Int.self) != -1 else { continue }
      let source = DispatchSource.makeSignalSource(signal: number)
      // It is kept by its handler, and as long as the process.
      source.setEventHandler { [source, weak self] in
        source.suspend()
        for number in signals { signal(number, SIG_DFL) }
        Task { [self] in
          // The journal holds why a close fails, if it can be written, and the program ends in any case.
          do throws(SessionError) { try await self?.close(within: limit) } catch {}
          Self.end(by: number)
        }
      }
      source.resume()
    }
  }

  private static func end(by number: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    // A signal source may have blocked it in this thread.
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
  }
  #endif
}
