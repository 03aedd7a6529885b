@_spi(Internals) public import SessionCore

/// A state machine that decides the steps of one sign-in with an identity provider.
///
/// It is a value that turns inputs into effects. It knows the view, the tokens and the redirects
/// only by number, and of errors only what may be shown. On every path, the observation stops and
/// the view is dismissed before the outcome is reported, once. `Specs/WebSignIn.md` lists the
/// effects of every input.
///
/// - Requirement: WEB-5
public struct WebSignIn: Hashable, Sendable {
  // The steps are no states of the coordinator. They last as long as the user takes, know nothing
  // of journals, and no decision there depends on them. To it, a login on a page is one request.
  // They never go back, so a test visits every state that any inputs can reach.

  /// Which steps a sign-in may take.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// First silently, then with a page if that fails.
    case interactive = "interactive"
    /// Only silently.
    case silent = "silent"
  }

  /// Whether the user is asked, like OpenID Connect's `prompt`.
  public enum Prompt: String, Hashable, Sendable, CaseIterable {
    /// Only if the provider knows no user who can sign in silently.
    case ifNeeded = "ifNeeded"
    /// Always, like `prompt=login` and `prompt=select_account`.
    ///
    /// No silent attempt comes before the page.
    case always = "always"
  }

  /// A step that the shell performs and whose end it reports.
  public enum Step: String, Hashable, Sendable, CaseIterable {
    /// The provider prepares.
    case warmUp = "warmUp"
    /// The provider tries to sign in silently.
    case acquireSilently = "acquireSilently"
    /// The app creates its view.
    case makeView = "makeView"
    /// The view reports its navigations to the observer, from the first one on.
    case observe = "observe"
    /// The app shows the view.
    case present = "present"
    /// The provider signs in on that view.
    case signIn = "signIn"
    /// The app removes the view.
    case dismiss = "dismiss"

    /// Whether the step returns tokens.
    public var bringsTokens: Bool { self == .acquireSilently || self == .signIn }

    /// The time limit of the step; `nil` if it depends on the user.
    public var limit: Limit? {
      switch self {
      case .warmUp, .acquireSilently: .request
      case .dismiss: .dismissal
      case .makeView, .observe, .present, .signIn: nil
      }
    }
  }

  /// A time limit of a step.
  public enum Limit: Hashable, Sendable {
    /// The policy's `refresh.timeout`.
    case request
    /// ``WebSignIn/dismissLimit``.
    case dismissal
  }

  /// The number of a running step, which is never reused.
  public struct Ticket: Hashable, Sendable {
    /// The number.
    public let number: UInt32
  }

  /// An input of the machine.
  public enum Input: Hashable, Sendable {
    /// The sign-in may begin.
    case begin(Prompt)
    /// A step succeeded, or its tokens could be read.
    case done(Ticket)
    /// A step failed with the problem that its error states, if any.
    ///
    /// Or its tokens could not be read.
    case failed(Ticket, WebSignInProblem?)
    /// A step has reached its time limit.
    case late(Ticket)
    /// The error that counts for the observer now; `nil` if there is none.
    case saw(WebSignInProblem?)
    /// A redirect with this number arrived outside of the view, with the error that it states.
    case redirected(UInt32, WebSignInProblem?)
    /// The provider has answered whether that redirect is its own.
    case handedIn(UInt32)
    /// No caller waits any more.
    case cancel
  }

  /// An effect that the shell performs.
  public enum Effect: Hashable, Sendable {
    /// Perform a step and report its end.
    case perform(Step, Ticket)
    /// Cancel a running step.
    case stop(Ticket)
    /// Read the tokens of a step, and report the result.
    case map(Ticket)
    /// Revoke the tokens of a step.
    case discard(Ticket)
    /// Stop the observation.
    case stopObserving
    /// Pass a redirect to the provider.
    case handle(UInt32)
    /// Report that a redirect does not belong to this sign-in.
    case refuse(UInt32)
    /// Report the outcome.
    case tell(Outcome)
  }

  /// The outcome of a sign-in.
  public enum Outcome: Hashable, Sendable {
    /// The sign-in succeeded with the tokens of this step.
    ///
    /// The second value names the method.
    case signedIn(Ticket, LoginMethod)
    /// The sign-in failed.
    ///
    /// There are no tokens.
    case failed(WebSignInProblem)
  }

  /// The state of the machine.
  private enum Phase: Hashable, Sendable {
    case waiting
    case running(Step, Ticket)
    case mapping(Ticket, LoginMethod)
    /// A step on the view was cancelled.
    ///
    /// Its end is awaited, so that nothing is created after the sign-in has ended.
    case undoing(Step, Ticket)
    case dismissing(Ticket)
    case over
  }

  /// The time limit for a view to close.
  ///
  /// The caller and the next login do not wait longer.
  ///
  /// If a provider's page was cancelled, the next sign-in waits for the same time.
  public static let dismissLimit = Duration.seconds(10)

  /// Which steps the sign-in may take.
  public let mode: Mode
  /// Whether the page must ask the user.
  ///
  /// The provider receives it, so that no unwanted user signs in.
  public private(set) var prompt = Prompt.ifNeeded
  private var phase = Phase.waiting
  private var tickets: UInt32 = 0
  private var hasView = false
  private var isObserving = false
  /// The error that the observer reported.
  private var seen: WebSignInProblem?
  /// The errors of redirects that the provider received and has not answered yet.
  private var handed: [UInt32: WebSignInProblem] = [:]
  private var outcome = Outcome.failed(.cancelled)
  /// Cancelled steps that may still return tokens.
  private var abandoned: Set<Ticket> = []

  /// Creates a sign-in that has not begun.
  public init(_ mode: Mode = .interactive) {
    self.mode = mode
  }

  /// Whether the outcome was reported.
  public var isOver: Bool { phase == .over }

  /// The name of the state in `Specs/WebSignIn.md`.
  public var place: String {
    switch phase {
    case .waiting: "waiting"
    case .running(let step, _): step.rawValue
    case .mapping: "mapping"
    case .undoing: "undoing"
    case .dismissing: "dismissing"
    case .over: "over"
    }
  }

  /// Handles an input.
  ///
  /// Returns the effects to perform, in this order.
  public mutating func handle(_ input: Input) -> [Effect] {
    switch input {
    case .begin(let prompt):
      guard phase == .waiting else { return [] }
      self.prompt = prompt
      guard mode == .interactive || prompt == .ifNeeded else { return end(.failed(.noAccount)) }
      return perform(.warmUp)
    case .done(let ticket): return ended(ticket, nil)
    case .failed(let ticket, let problem): return ended(ticket, .some(problem))
    case .late(let ticket): return late(ticket)
    // What counts is what the observer says at the end. An error on a page in the middle does not
    // explain why the user leaves the next one, and an observer may withdraw it.
    case .saw(let problem):
      if isObserving { seen = problem }
      return []
    case .redirected(let number, let problem):
      guard case .running(.signIn, _) = phase else { return [.refuse(number)] }
      handed[number] = problem
      return [.handle(number)]
    case .handedIn(let number):
      handed[number] = nil
      return []
    case .cancel: return cancel()
    }
  }

  /// Handles the end of a step.
  ///
  /// It succeeded if `failure` is `nil`, and otherwise failed with the problem of its error.
  private mutating func ended(_ ticket: Ticket, _ failure: WebSignInProblem??) -> [Effect] {
    switch phase {
    case .running(let step, ticket):
      guard let failure else { return succeeded(step, ticket) }
      return failed(step, failure)
    case .mapping(ticket, let method):
      guard let failure else { return end(.signedIn(ticket, method)) }
      guard method == .silent, mode == .interactive else {
        return end(.failed(failure ?? .unreadableTokens))
      }
      // An unwanted user must not sign in by the page's cookies either.
      if failure == .noAccount { prompt = .always }
      return perform(.makeView)
    case .undoing(let step, ticket):
      // A view that is being made has no limit: after the end nothing could dismiss it.
      if step == .makeView, failure == nil { hasView = true }
      return end(.failed(.cancelled))
    case .dismissing(ticket):
      return over()
    default:
      guard abandoned.remove(ticket) != nil else { return [] }
      return failure == nil ? [.discard(ticket)] : []
    }
  }

  /// Handles a step that takes too long: it is cancelled, and the page or the end follows.
  private mutating func late(_ ticket: Ticket) -> [Effect] {
    switch phase {
    case .running(let step, ticket) where step.limit != nil:
      if step.bringsTokens { abandoned.insert(ticket) }
      return [.stop(ticket)]
        + (mode == .silent ? end(.failed(.unreachable)) : perform(.makeView))
    // UIKit calls no completion for a view that other code has removed. To wait without an end, or
    // to refuse every later login, would lock a user out because of a missing call. Two views at
    // once are the smaller problem.
    case .dismissing(ticket): return over()
    default: return []
    }
  }

  private mutating func succeeded(_ step: Step, _ ticket: Ticket) -> [Effect] {
    switch step {
    case .warmUp: return perform(prompt == .always ? .makeView : .acquireSilently)
    case .acquireSilently, .signIn:
      phase = .mapping(ticket, step == .signIn ? .interactive : .silent)
      return [.map(ticket)]
    case .makeView:
      hasView = true
      isObserving = true
      return perform(.observe)
    case .observe: return perform(.present)
    case .present: return perform(.signIn)
    case .dismiss: return []
    }
  }

  private mutating func failed(_ step: Step, _ problem: WebSignInProblem?) -> [Effect] {
    // The session has not cancelled it, so the user has, through the SDK or the view.
    let problem = problem == .cancelled ? .cancelledByUser : problem
    switch step {
    case .warmUp: return end(.failed(problem ?? .refused(nil)))
    case .acquireSilently:
      // The page will show what prevented the silent sign-in.
      guard mode == .silent else { return perform(.makeView) }
      return end(.failed(problem ?? .noAccount))
    case .makeView, .observe, .present:
      return end(.failed(problem == .cancelledByUser ? .cancelledByUser : .viewFailed))
    case .signIn:
      let handed = handed.max { $0.key < $1.key }?.value
      return end(.failed(.reported(seen: handed ?? seen, found: problem)))
    case .dismiss: return []
    }
  }

  private mutating func cancel() -> [Effect] {
    switch phase {
    case .waiting: return end(.failed(.cancelled))
    case .running(let step, let ticket):
      switch step {
      case .makeView, .observe, .present:
        phase = .undoing(step, ticket)
        return [.stop(ticket)]
      case .warmUp, .acquireSilently, .signIn, .dismiss:
        // The step is not awaited, since a provider that ignores cancellation would keep its page
        // open.
        if step.bringsTokens { abandoned.insert(ticket) }
        return [.stop(ticket)] + end(.failed(.cancelled))
      }
    case .mapping(let ticket, _): return [.discard(ticket)] + end(.failed(.cancelled))
    case .dismissing:
      guard case .signedIn(let ticket, _) = outcome else { return [] }
      outcome = .failed(.cancelled)
      return [.discard(ticket)]
    case .undoing, .over: return []
    }
  }

  /// Ends the sign-in on every path: it stops the observation, dismisses the view, and then reports
  /// the outcome.
  private mutating func end(_ outcome: Outcome) -> [Effect] {
    self.outcome = outcome
    var effects: [Effect] = []
    if isObserving {
      isObserving = false
      effects.append(.stopObserving)
    }
    guard hasView else { return effects + over() }
    hasView = false
    let ticket = nextTicket()
    phase = .dismissing(ticket)
    return effects + [.perform(.dismiss, ticket)]
  }

  private mutating func over() -> [Effect] {
    phase = .over
    return [.tell(outcome)]
  }

  private mutating func perform(_ step: Step) -> [Effect] {
    let ticket = nextTicket()
    phase = .running(step, ticket)
    return [.perform(step, ticket)]
  }

  private mutating func nextTicket() -> Ticket {
    tickets += 1
    return Ticket(number: tickets)
  }
}
