import SessionCore

/// The good tokens of one session, for connections that outlive a token: web sockets, server-sent events,
/// gRPC.
///
/// ```swift
/// for await token in session.tokens {
///   socket.authenticate(with: token.plaintext)
/// }
/// socket.close()  // The session has ended.
/// ```
/// The first token comes at once if there is a good one, and each newer one before the old one ends. A slow reader
/// receives the newest only. While no token can be had, for example without a network or while the app is
/// locked, the sequence waits. It ends with the session: after a logout, an expiry or a login of another user, if
/// the session object is closed, if the task is cancelled, and at once if no user is signed in. An iterator holds
/// the session object.
///
/// - Requirement: INT-7
public struct SessionTokens: AsyncSequence, Sendable {
  /// A token that was good when it was delivered.
  public typealias Element = AccessToken
  /// It never fails.
  public typealias Failure = Never

  let session: Session

  /// Returns an iterator that begins with the current token.
  public func makeAsyncIterator() -> Iterator { Iterator(session: session) }

  /// Iterates over the tokens.
  public struct Iterator: AsyncIteratorProtocol {
    private enum Wake: Sendable {
      case status(LatestValue<SessionStatus>.Answer)
      case due
    }

    private let session: Session
    /// The session that the first token belonged to.
    private var owner: SessionState.Authenticated?
    private var last = Generation.none
    private var isOver = false
    /// The number of the status that was seen last; 0 before the first one.
    private var seen: UInt64 = 0
    /// The token for whose successor this iterator has asked.
    private var asked: Generation?

    init(session: Session) { self.session = session }

    /// Waits for a token that was not delivered yet.
    ///
    /// Returns `nil` after the end of the session.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async
      -> AccessToken?
    {
      while !isOver, !Task.isCancelled {
        let shown = session.engine.view.current
        let now = session.engine.configuration.clock.now().uptime
        var due: Int64?
        if case .authenticated(let current) = shown.state {
          guard owner.map({ $0.user == current.user && $0.since == current.since }) ?? true else {
            break
          }
          owner = current
          if let token = shown.token, token.generation > last, now < shown.deadline {
            last = token.generation
            return token
          }
          if !shown.isLocked, asked != current.token.generation {
            due = shown.deadline.subtractingSaturating(SessionTokens.margin(of: current.token))
          }
          if let moment = due, moment <= now {
            asked = current.token.generation
            await Self.ask(session, after: current.token.generation)
            continue
          }
        } else if owner != nil || shown.activity != .loading {
          break
        }
        switch await Self.wake(session, after: seen, at: due) {
        case .status(.value(_, let number)): seen = number
        case .status(.finished): isOver = true
        case .due: break
        }
      }
      isOver = true
      return nil
    }

    /// Asks for a newer token than the present one, which is about to end.
    ///
    /// With a refresh before expiry this is later than that refresh, so it is seldom a request of its own.
    private static func ask(_ session: Session, after asked: Generation) async {
      do throws(SessionError) {
        _ = try await session.refresh(.manual, .unlessNewer(than: asked))
      } catch {
        // The journal has the failure. The session tries again, and its next token is a change.
      }
    }

    /// Waits for a status after the one with this number, or until this uptime.
    private static func wake(_ session: Session, after seen: UInt64, at due: Int64?) async
      -> Wake
    {
      let (hub, clock) = (session.engine.states, session.engine.configuration.clock)
      return await withTaskGroup(of: Wake.self) { group in
        group.addTask { .status(await hub.answer(after: seen)) }
        if let due {
          group.addTask {
            // A cancelled sleep is no moment: the other task has won.
            do { try await clock.sleep(untilUptime: due) } catch { return .due }
            return .due
          }
        }
        defer { group.cancelAll() }
        return await group.next() ?? .status(.finished)
      }
    }
  }

  /// The milliseconds before the end of a token at which its successor is asked for: a tenth of its life, 30
  /// seconds at most.
  private static func margin(of token: TokenMetadata) -> Int64 {
    Swift.min(30_000, token.lifetimeMilliseconds / 10)
  }
}

extension Session {
  /// The good tokens of the session that is open now; see ``SessionTokens``.
  ///
  /// - Requirement: INT-7
  public var tokens: SessionTokens { SessionTokens(session: self) }
}
