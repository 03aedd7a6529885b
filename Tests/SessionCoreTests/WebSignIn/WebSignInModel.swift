@_spi(Internals) import SessionCore
import SessionWebSignIn

/// A sign-in and all that it created: the invariants of WEB-5, checked after each input.
struct WebSignInModel: Hashable {
  private(set) var machine: WebSignIn
  /// The current step, and the steps that run on after they were given up.
  private(set) var running: [WebSignIn.Ticket: WebSignIn.Step] = [:]
  private var stopped: Set<WebSignIn.Ticket> = []
  private(set) var mapping: WebSignIn.Ticket?
  private var steps: [WebSignIn.Step] = []
  private var isObserving = false
  private var views = 0
  private var tokens: Set<WebSignIn.Ticket> = []
  private var isAlways = false
  private(set) var outcome: WebSignIn.Outcome?
  private(set) var problem: String?

  init(_ mode: WebSignIn.Mode) { machine = WebSignIn(mode) }

  /// Every input that can happen now, and some that cannot.
  var inputs: [WebSignIn.Input] {
    let open = running.keys.sorted { $0.number < $1.number } + (mapping.map { [$0] } ?? [])
    return open.flatMap {
      [
        .done($0), .failed($0, nil), .failed($0, .cancelledByUser), .failed($0, .noAccount),
        .late($0),
      ]
        as [WebSignIn.Input]
    } + [
      .begin(.ifNeeded), .begin(.always), .saw(.forgottenPassword), .saw(nil),
      .redirected(1, .forgottenPassword), .handedIn(1), .cancel,
    ]
  }

  /// The inputs that end every running step.
  var nextDone: WebSignIn.Input? {
    (mapping ?? running.keys.min { $0.number < $1.number }).map { .done($0) }
  }

  @discardableResult
  mutating func tell(_ input: WebSignIn.Input) -> [WebSignIn.Effect] {
    note(input)
    let wasOver = machine.isOver
    let effects = machine.handle(input)
    for effect in effects { note(effect, wasOver: wasOver) }
    if machine.isOver { checkEnd() }
    return effects
  }

  private mutating func require(_ holds: Bool, _ words: String) {
    if !holds { problem = problem ?? words }
  }

  private mutating func note(_ input: WebSignIn.Input) {
    switch input {
    case .done(let ticket):
      if mapping == ticket { mapping = nil }
      let step = running.removeValue(forKey: ticket)
      if step == .makeView { views += 1 }
      if step?.bringsTokens == true { tokens.insert(ticket) }
      if step == .dismiss { views -= 1 }
    case .failed(let ticket, _):
      if mapping == ticket {
        mapping = nil
        tokens.remove(ticket)
      }
      if running.removeValue(forKey: ticket) == .dismiss { views -= 1 }
    case .late(let ticket):
      // A late step may run on after it, but a view counts as gone.
      if running[ticket] == .dismiss {
        running[ticket] = nil
        views -= 1
      }
    case .begin(let prompt): if machine.place == "waiting" { isAlways = prompt == .always }
    case .saw, .redirected, .handedIn, .cancel: break
    }
  }

  private mutating func note(_ effect: WebSignIn.Effect, wasOver: Bool) {
    switch effect {
    case .discard(let ticket):
      require(tokens.remove(ticket) != nil, "tokens are given back that were not there")
      if mapping == ticket { mapping = nil }
      return
    case .refuse: return
    default: require(!wasOver, "\(effect) behind the end")
    }
    switch effect {
    case .perform(let step, let ticket):
      require(
        running.keys.allSatisfy(stopped.contains) && mapping == nil, "two steps at once: \(step)")
      require(!steps.contains(step), "\(step) twice")
      require(step != .dismiss || views == 1, "a view is dismissed that was not made")
      require(step != .dismiss || !isObserving, "a view is dismissed that is still observed")
      let before = WebSignIn.Step.allCases.prefix { $0 != step }
        .filter { $0 != .acquireSilently || !isAlways && (steps.contains($0) || step == $0) }
      require(step != .acquireSilently || !isAlways, "tried without asking")
      require(step == .dismiss || steps == Array(before), "\(step) out of order")
      steps.append(step)
      running[ticket] = step
      if step == .observe { isObserving = true }
    case .stop(let ticket):
      require(running[ticket] != nil, "a step is stopped that is not under way")
      stopped.insert(ticket)
    case .map(let ticket): mapping = ticket
    case .stopObserving:
      require(isObserving, "stopped without having observed")
      isObserving = false
    case .handle: require(running.values.contains(.signIn), "handed in where nobody waits")
    case .tell(let told):
      require(outcome == nil, "told twice")
      outcome = told
    case .discard, .refuse: break
    }
  }

  private mutating func checkEnd() {
    require(outcome != nil, "over and nobody told")
    require(views == 0, "over and the view is still there")
    require(!isObserving, "over and still observing")
    let isOnView = running.values.contains {
      [.makeView, .observe, .present, .dismiss].contains($0)
    }
    require(!isOnView, "over while something is done to the view")
    if case .signedIn(let ticket, let method)? = outcome {
      require(tokens == [ticket], "signed in with tokens that are not there, or others are left")
      require(method != .silent || !isAlways, "signed in unasked")
      let step: WebSignIn.Step = method == .silent ? .acquireSilently : .signIn
      require(steps.contains(step), "signed in by a way not gone")
    } else {
      require(tokens.isEmpty, "tokens are left behind")
    }
  }
}
