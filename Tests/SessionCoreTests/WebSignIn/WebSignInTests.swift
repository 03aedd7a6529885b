import Foundation
@_spi(Internals) import SessionCore
import SessionWebSignIn
import Testing

/// The steps of `Specs/WebSignIn.md`, and the invariants of every sequence of inputs.
@Suite("A sign-in with an identity provider: the decisions")
struct WebSignInTests {
  @Test(
    "WEB-5 in any order of inputs: one answer, views dismissed, steps stopped, nothing after the end",
    arguments: WebSignIn.Mode.allCases)
  func everySequence(mode: WebSignIn.Mode) {
    // A sign-in never goes back, so every reachable state can be visited.
    var waiting = [WebSignInModel(mode)]
    var seen = Set(waiting)
    var outcomes: Set<WebSignIn.Outcome> = []
    while let model = waiting.popLast() {
      for input in model.inputs {
        var next = model
        next.tell(input)
        #expect(next.problem == nil, "\(model.machine.place) + \(input)")
        guard next.problem == nil, seen.insert(next).inserted else { continue }
        if let outcome = next.outcome { outcomes.insert(outcome) }
        waiting.append(next)
      }
    }
    #expect(seen.count > (mode == .silent ? 12 : 60))
    #expect(outcomes.contains { if case .signedIn(_, .silent) = $0 { true } else { false } })
    #expect(
      outcomes.contains { if case .signedIn(_, .interactive) = $0 { true } else { false } }
        == (mode == .interactive))
    #expect(outcomes.contains(.failed(.cancelled)) && outcomes.contains(.failed(.unreadableTokens)))
  }

  @Test("WEB-5 every state leads to an end, whatever was cancelled or failed")
  func alwaysEnds() {
    var waiting = [WebSignInModel(.interactive)]
    var seen = Set(waiting)
    while let model = waiting.popLast() {
      var last = model
      last.tell(.begin(.ifNeeded))
      for _ in 0..<20 {
        guard let done = last.nextDone else { break }
        last.tell(done)
      }
      #expect(last.machine.isOver && last.problem == nil, "\(model.machine.place)")
      for input in model.inputs {
        var next = model
        next.tell(input)
        if seen.insert(next).inserted { waiting.append(next) }
      }
    }
  }

  @Test("WEB-5 Specs/WebSignIn.md: each response to each input")
  func steps() throws {
    let page = try SpecFile("Specs/WebSignIn.md")
    let actual = try Self.stages.map { name, path in try Self.row(name, path) }
    let wanted = page.table(under: "Steps")
    for row in actual where !wanted.contains(row) {
      Issue.record("the page has not: \(Self.line(row))")
    }
    #expect(wanted.count == actual.count)
  }

  @Test("WEB-4 Specs/WebSignIn.md: the observer's finding takes precedence over the error")
  func precedence() throws {
    let rows = try SpecFile("Specs/WebSignIn.md").table(under: "Which error is reported")
    #expect(rows.count == 10)
    let named: [String: WebSignInProblem] = [
      "cancelledByUser": .cancelledByUser, "forgottenPassword": .forgottenPassword,
      "refused AADB2C90080": .refused(IdentityCode("AADB2C90080")), "refused": .refused(nil),
      "unreachable": .unreachable, "cancelled": .cancelled,
      "refused access_denied": .refused(IdentityCode("access_denied")),
    ]
    for row in rows {
      let (seen, found) = (row["seen"] ?? "", row["in the error"] ?? "")
      #expect((seen == "–") == (named[seen] == nil) && (found == "–") == (named[found] == nil))
      var model = WebSignInModel(.interactive)
      model.tell(.begin(.ifNeeded))
      while model.machine.place != "signIn" {
        let step = try #require(model.nextDone)
        guard case .done(let ticket) = step else { return }
        model.tell(model.machine.place == "acquireSilently" ? .failed(ticket, nil) : step)
      }
      if let seen = named[seen] { model.tell(.saw(seen)) }
      guard case .done(let ticket)? = model.nextDone else { return }
      model.tell(.failed(ticket, named[found]))
      model.tell(try #require(model.nextDone))
      #expect(model.outcome == .failed(try #require(named[row["told"] ?? ""])), "\(row)")
    }
  }

  @Test(
    "WEB-5 POL-5 if the user is asked in any case, no silent attempt comes before or instead")
  func always() throws {
    var silent = WebSignInModel(.silent)
    #expect(silent.tell(.begin(.always)) == [.tell(.failed(.noAccount))])
    var page = WebSignInModel(.interactive)
    page.tell(.begin(.always))
    page.tell(try #require(page.nextDone))
    #expect(page.machine.place == "makeView" && page.machine.prompt == .always)
  }

  @Test("WEB-5 a known but unwanted user and unreadable tokens result in a page")
  func unwelcome() throws {
    for (problem, prompt) in [
      (WebSignInProblem.noAccount, WebSignIn.Prompt.always), (.unreadableTokens, .ifNeeded),
    ] {
      for mode in WebSignIn.Mode.allCases {
        var model = WebSignInModel(mode)
        model.tell(.begin(.ifNeeded))
        while model.mapping == nil { model.tell(try #require(model.nextDone)) }
        model.tell(.failed(try #require(model.mapping), problem))
        #expect(model.outcome == (mode == .silent ? .failed(problem) : nil))
        #expect(mode == .silent || model.machine.place == "makeView")
        #expect(mode == .silent || model.machine.prompt == prompt)
      }
    }
  }

  @Test("WEB-4 WEB-5 a user may leave while the view appears, or cancel through the SDK")
  func leftEarly() throws {
    let cases: [(String, WebSignInProblem?, WebSignInProblem)] = [
      ("warmUp", .cancelled, .cancelledByUser), ("makeView", .cancelledByUser, .cancelledByUser),
      ("observe", .cancelledByUser, .cancelledByUser), ("present", .cancelled, .cancelledByUser),
      ("present", .forgottenPassword, .viewFailed), ("present", nil, .viewFailed),
      ("signIn", .cancelled, .cancelledByUser),
    ]
    for (place, problem, told) in cases {
      var model = WebSignInModel(.interactive)
      model.tell(.begin(.always))
      while model.machine.place != place { model.tell(try #require(model.nextDone)) }
      guard case .done(let ticket)? = model.nextDone else { return }
      model.tell(.failed(ticket, problem))
      if let dismissed = model.nextDone { model.tell(dismissed) }
      #expect(model.outcome == .failed(told), "\(place)")
    }
  }

  @Test(
    "WEB-2 WEB-4 a withdrawn finding is not reported; a redirect that the app passes is, unless refused"
  )
  func withdrawn() throws {
    func told(_ inputs: [WebSignIn.Input]) throws -> WebSignIn.Outcome? {
      var model = WebSignInModel(.interactive)
      model.tell(.begin(.always))
      while model.machine.place != "signIn" { model.tell(try #require(model.nextDone)) }
      for input in inputs { model.tell(input) }
      guard case .done(let ticket)? = model.nextDone else { return nil }
      model.tell(.failed(ticket, .cancelledByUser))
      model.tell(try #require(model.nextDone))
      return model.outcome
    }
    let forgotten = WebSignIn.Outcome.failed(.forgottenPassword)
    let left = WebSignIn.Outcome.failed(.cancelledByUser)
    #expect(try told([.saw(.forgottenPassword)]) == forgotten)
    #expect(try told([.saw(.forgottenPassword), .saw(nil)]) == left)
    #expect(try told([.redirected(1, .forgottenPassword)]) == forgotten)
    #expect(try told([.redirected(1, .forgottenPassword), .handedIn(1)]) == left)
    #expect(
      try told([.redirected(1, .forgottenPassword), .handedIn(1), .saw(.forgottenPassword)])
        == forgotten)
    #expect(try told([.redirected(1, nil)]) == left)
  }

  @Test(
    "WEB-2 STO-3 a code is shown only if it is registered or is a number of Microsoft's",
    arguments: [
      ("AADB2C90118", true), ("AADB2C9011", true), ("AADB2C901180", true), ("AADB2C901", false),
      ("AADB2C9011801", false), ("aadb2c90118", false), ("access_denied", true),
      ("AADSTS50058", true), ("AADSTS7000215", true), ("AADSTS70002151", false),
      ("TOKEN_EXPIRED", false), ("MARIA_GARCIA", false), ("ANASMITH", false),
      ("JBSWY3DPEHPK3PXP", false), ("ana@school.test", false), ("eyJhbGciOi", false), ("", false),
      ("AADB2C90118 ", false), ("Any text", false),
    ])
  func codes(text: String, isCode: Bool) {
    #expect((IdentityCode(text)?.description == text) == isCode)
  }

  @Test(
    "WEB-2 a number is found within a text if only an escape touches it",
    arguments: [
      ("AADB2C90118: The user has forgotten their password.", "AADB2C90118"),
      ("x\nAADB2C90091", "AADB2C90091"), ("(AADB2C90080)", "AADB2C90080"),
      ("AADB2C90118%3a+The", "AADB2C90118"), ("%5BAADB2C90118%5D", "AADB2C90118"),
      ("100%AADB2C90118", "AADB2C90118"), ("x5BAADB2C90118", nil),
      ("AADSTS50058: x", "AADSTS50058"),
      ("XAADB2C90118", nil), ("AADB2C90118X", nil),
      ("AADB2C_90118", nil), ("", nil), ("AADB2C1 AADB2C99002", "AADB2C99002"),
    ] as [(String, String?)])
  func codesWithin(text: String, code: String?) {
    #expect(IdentityCode(within: text)?.description == code)
  }

  // MARK: The page's rows

  /// How to reach each stage: inputs for the current step, `+` for success, `-` for
  /// failure, `x` for a caller that left.
  private static let stages: [(String, String)] = [
    ("waiting", ""), ("warmUp", "b"), ("warmUp, always", "p"), ("acquireSilently", "b+"),
    ("acquireSilently, silent", "sb+"),
    ("makeView", "b+-"), ("observe", "b+-+"), ("present", "b+-++"), ("signIn", "b+-+++"),
    ("mapping, unasked", "b++"), ("mapping, silent", "sb++"), ("mapping, by the user", "b+-++++"),
    ("dismissing, signed in", "b+-+++++"), ("dismissing, failed", "b+-+++-"),
    ("undoing makeView", "b+-x"), ("undoing present", "b+-++x"), ("over", "b-"),
  ]

  private static func model(_ path: String) throws -> WebSignInModel {
    var model = WebSignInModel(path.hasPrefix("s") ? .silent : .interactive)
    for letter in path where letter != "s" {
      switch letter {
      case "b": model.tell(.begin(.ifNeeded))
      case "p": model.tell(.begin(.always))
      case "x": model.tell(.cancel)
      default:
        guard case .done(let ticket)? = model.nextDone else {
          throw WebSignInProblem.viewFailed
        }
        model.tell(letter == "+" ? .done(ticket) : .failed(ticket, nil))
      }
    }
    return model
  }

  private static func row(_ name: String, _ path: String) throws -> [String: String] {
    let model = try model(path)
    #expect(name.hasPrefix(model.machine.place), "\(name)")
    var row = ["at": name]
    let ticket: WebSignIn.Ticket? =
      if case .done(let ticket)? = model.nextDone { ticket } else { nil }
    row["begin"] = cell(model, .begin(.ifNeeded))
    row["done"] = ticket.map { cell(model, .done($0)) } ?? "–"
    row["failed"] = ticket.map { cell(model, .failed($0, nil)) } ?? "–"
    row["late"] = ticket.map { cell(model, .late($0)) } ?? "–"
    row["redirected"] = cell(model, .redirected(1, nil))
    row["cancel"] = cell(model, .cancel)
    return row
  }

  private static func cell(_ model: WebSignInModel, _ input: WebSignIn.Input) -> String {
    var next = model
    let effects = next.tell(input).map(words)
    return effects.isEmpty ? "nothing" : effects.joined(separator: "; ")
  }

  private static func words(_ effect: WebSignIn.Effect) -> String {
    switch effect {
    case .perform(let step, _): "\(step)"
    case .stop: "stop it"
    case .map: "read the tokens"
    case .discard: "give the tokens back"
    case .stopObserving: "stop observing"
    case .handle: "hand it in"
    case .refuse: "refuse it"
    case .tell(.signedIn(_, let method)): "tell: \(method)"
    case .tell(.failed(let problem)): "tell: \(problem)"
    }
  }

  private static func line(_ row: [String: String]) -> String {
    "| "
      + ["at", "begin", "done", "failed", "late", "redirected", "cancel"].map { row[$0] ?? "" }
      .joined(separator: " | ") + " |"
  }
}
