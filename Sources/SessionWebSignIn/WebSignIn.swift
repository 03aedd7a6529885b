@_spi(Internals) public import SessionCore

/// The decisions of one sign-in with an identity provider, from warming up to its end.
///
/// A value: what happened goes in, what to do next comes out. It knows the view, the tokens and the
/// redirects by number only, and errors by what of them may be shown. Whatever way it ends, what observes is
/// stopped and what was made is dismissed before the outcome is told, which is told once;
/// `Specs/WebSignIn.md` has every answer to every input.
///
/// - Requirement: WEB-5
public struct WebSignIn: Hashable, Sendable {
  /// How far a sign-in may go.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// Without showing anything, and where that does not do with a page.
    case interactive = "interactive"
    /// Without showing anything, or not at all.
    case silent = "silent"
  }

  /// Whether the user is asked, in the sense of OpenID Connect's `prompt`.
  public enum Prompt: String, Hashable, Sendable, CaseIterable {
    /// Only where the provider knows nobody whom it could sign in without showing anything.
    case ifNeeded = "ifNeeded"
    /// In any case, as `prompt=login` and `prompt=select_account` ask for: nothing is tried before the page.
    case always = "always"
  }

  /// What the shell has to do and to tell the end of.
  public enum Step: String, Hashable, Sendable, CaseIterable {
    /// The provider prepares.
    case warmUp = "warmUp"
    /// The provider looks whether it can sign in without showing anything.
    case acquireSilently = "acquireSilently"
    /// The app makes its view.
    case makeView = "makeView"
    /// The view's navigations are told to the observer, from the first on.
    case observe = "observe"
    /// The app shows the view.
    case present = "present"
    /// The provider signs in, on that view.
    case signIn = "signIn"
    /// The app takes the view away.
    case dismiss = "dismiss"

    /// Whether it brings tokens.
    public var bringsTokens: Bool { self == .acquireSilently || self == .signIn }

    /// How long it is waited for; `nil` for what lasts as long as a person takes.
    public var limit: Limit? {
      switch self {
      case .warmUp, .acquireSilently: .request
      case .dismiss: .dismissal
      case .makeView, .observe, .present, .signIn: nil
      }
    }
  }

  /// A time that a step is bounded by.
  public enum Limit: Hashable, Sendable {
    /// The policy's `refresh.timeout`.
    case request
    /// ``WebSignIn/dismissLimit``.
    case dismissal
  }

  /// A step under way: a number, never given twice.
  public struct Ticket: Hashable, Sendable {
    /// The number.
    public let number: UInt32
  }

  /// Something that happened.
  public enum Input: Hashable, Sendable {
    /// It may begin.
    case begin(Prompt)
    /// A step was done, or the tokens that it brought could be read.
    case done(Ticket)
    /// A step failed, by what the error says where it says something; or its tokens could not be read.
    case failed(Ticket, WebSignInProblem?)
    /// A step has taken as long as it may.
    case late(Ticket)
    /// The observer has seen this error by now; `nil` where none stands.
    case saw(WebSignInProblem?)
    /// A redirect came from outside of the view, under this number, and says this of an error.
    case redirected(UInt32, WebSignInProblem?)
    /// The provider has said whether that redirect is its own.
    case handedIn(UInt32)
    /// Nobody waits any more.
    case cancel
  }

  /// What to do next.
  public enum Effect: Hashable, Sendable {
    /// Do a step and tell of its end.
    case perform(Step, Ticket)
    /// Have a step that is under way end early.
    case stop(Ticket)
    /// Read the tokens that a step brought, and tell.
    case map(Ticket)
    /// Give back the tokens that a step brought.
    case discard(Ticket)
    /// Observe no longer.
    case stopObserving
    /// Hand a redirect to the provider.
    case handle(UInt32)
    /// Say that a redirect is not for this sign-in.
    case refuse(UInt32)
    /// Say how it ended.
    case tell(Outcome)
  }

  /// How it ended.
  public enum Outcome: Hashable, Sendable {
    /// With the tokens of this step, in this way.
    case signedIn(Ticket, LoginMethod)
    /// With nothing.
    case failed(WebSignInProblem)
  }

  /// Where it stands.
  private enum Phase: Hashable, Sendable {
    case waiting
    case running(Step, Ticket)
    case mapping(Ticket, LoginMethod)
    /// A step on the view is given up, and waited for, so that nothing is made behind the end.
    case undoing(Step, Ticket)
    case dismissing(Ticket)
    case over
  }

  /// How long a view may take to close: the caller and the next login wait no longer.
  ///
  /// A provider whose page was given up is waited for as long by the next sign-in.
  public static let dismissLimit = Duration.seconds(10)

  /// How far it may go.
  public let mode: Mode
  /// Whether the page has to ask, which is told to the provider: not to sign in whom nobody wanted.
  public private(set) var prompt = Prompt.ifNeeded
  private var phase = Phase.waiting
  private var tickets: UInt32 = 0
  private var hasView = false
  private var isObserving = false
  /// What the observer has seen.
  private var seen: WebSignInProblem?
  /// The errors of redirects that the provider was handed and has not said anything of yet.
  private var handed: [UInt32: WebSignInProblem] = [:]
  private var outcome = Outcome.failed(.cancelled)
  /// Steps that were given up and may still bring tokens.
  private var abandoned: Set<Ticket> = []

  /// A sign-in that has not begun.
  public init(_ mode: Mode = .interactive) {
    self.mode = mode
  }

  /// Whether the outcome was told.
  public var isOver: Bool { phase == .over }

  /// Where it stands, by the words of `Specs/WebSignIn.md`.
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

  /// Takes in what happened, and says what to do next, in this order.
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

  /// A step has ended: well where `failure` is `nil`, else with what its error says.
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
      // Who is not wanted must not come in by the page's cookies either.
      if failure == .noAccount { prompt = .always }
      return perform(.makeView)
    case .undoing(let step, ticket):
      if step == .makeView, failure == nil { hasView = true }
      return end(.failed(.cancelled))
    case .dismissing(ticket):
      return over()
    default:
      guard abandoned.remove(ticket) != nil else { return [] }
      return failure == nil ? [.discard(ticket)] : []
    }
  }

  /// A step takes too long: it is given up, and the page or the end comes next.
  private mutating func late(_ ticket: Ticket) -> [Effect] {
    switch phase {
    case .running(let step, ticket) where step.limit != nil:
      if step.bringsTokens { abandoned.insert(ticket) }
      return [.stop(ticket)]
        + (mode == .silent ? end(.failed(.unreachable)) : perform(.makeView))
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
    // Nobody of ours has cancelled it, so it was the user, through the SDK or the view.
    let problem = problem == .cancelled ? .cancelledByUser : problem
    switch step {
    case .warmUp: return end(.failed(problem ?? .refused(nil)))
    case .acquireSilently:
      // Whatever kept it from being silent, the page will say what is wrong.
      guard mode == .silent else { return perform(.makeView) }
      return end(.failed(problem ?? .noAccount))
    case .makeView, .observe, .present:
      return end(.failed(problem == .cancelledByUser ? .cancelledByUser : .viewFailed))
    case .signIn:
      let handed = handed.max { $0.key < $1.key }?.value
      return end(.failed(.told(seen: handed ?? seen, found: problem)))
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
        // Not waited for: a provider that does not listen would keep its page open.
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

  /// The one way to an end: what observes is stopped, what was made is dismissed, and then it is told.
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
