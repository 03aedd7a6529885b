internal import SessionJSON

/// The effect of a key while records are shown (`Specs/ReplayStep.md`).
enum StepAction: String, CaseIterable, Sendable {
  case next, previous
  case nextEvent, previousEvent
  case nextEnd, previousEnd
  case nextOfToken, previousOfToken
  case otherEnd
  case pageDown, pageUp
  case first, last
  case goTo
  case searchForward, searchBack
  case why
  case mark
  case record
  case zone
  case help
  case redraw
  case suspend
  case leave
  case interrupt

  /// The keys, in the order of the help.
  var keys: [StepKey] {
    switch self {
    case .next: [.right, .down, .character("l"), .character("j"), .character(" ")]
    case .previous: [.left, .up, .character("h"), .character("k"), .backspace]
    case .nextEvent: [.character("n")]
    case .previousEvent: [.character("N")]
    case .nextEnd: [.character("e")]
    case .previousEnd: [.character("E")]
    case .nextOfToken: [.character("]")]
    case .previousOfToken: [.character("[")]
    case .otherEnd: [.character("o")]
    case .pageDown: [.pageDown, .character("f")]
    case .pageUp: [.pageUp, .character("b")]
    case .first: [.home, .character("g")]
    case .last: [.end, .character("G")]
    case .goTo: [.character(":")]
    case .searchForward: [.character("/")]
    case .searchBack: [.character("?")]
    case .why: [.character("w")]
    case .mark: [.character("m")]
    case .record: [.enter]
    case .zone: [.character("t")]
    case .help: [.character("H"), .help]
    case .redraw: [.control("l")]
    case .suspend: [.control("z")]
    case .leave: [.character("q"), .escape]
    case .interrupt: [.control("c")]
    }
  }

  /// Its effect, for people.
  var meaning: String {
    switch self {
    case .next: "the next record"
    case .previous: "one back"
    case .nextEvent: "the next event (with --kind: the next of those kinds)"
    case .previousEvent: "the event before"
    case .nextEnd: "the next end of a session"
    case .previousEnd: "the end before"
    case .nextOfToken: "the next record about the same token"
    case .previousOfToken: "the one before about the same token"
    case .otherEnd: "from a request to its answer, and back"
    case .pageDown: "a screen on"
    case .pageUp: "a screen back"
    case .first: "the first record"
    case .last: "the last record, also of a journal that grew"
    case .goTo: "go to a selector: 412, @-1, 14:02, today, -3h"
    case .searchForward: "search in names and words; with nothing entered, the same again"
    case .searchBack: "search back"
    case .why: "why: what this record means, or the last end at or before it"
    case .mark: "compare with this record from here on; again: no longer"
    case .record: "the whole record as JSON"
    case .zone: "times in UTC, or in this computer's zone"
    case .help: "this page"
    case .redraw: "draw the screen anew"
    case .suspend: "suspend; fg comes back"
    case .leave: "leave, or close a page"
    case .interrupt: "leave with 130; while something is searched: stop that"
    }
  }

  /// Creates the action of a key; `nil` if the key has none.
  init?(_ key: StepKey) {
    guard let action = Self.byKey[key] else { return nil }
    self = action
  }

  private static let byKey: [StepKey: StepAction] = {
    var actions: [StepKey: StepAction] = [:]
    for action in allCases {
      for key in action.keys { actions[key] = action }
    }
    return actions
  }()
}

extension StepKey {
  /// The key's name for people.
  var name: String {
    switch self {
    case .character(" "): "space"
    case .character(let scalar), .pasted(let scalar): String(scalar)
    case .control(let scalar): "Ctrl-\(String(scalar).uppercased())"
    case .enter: "Enter"
    case .backspace: "Backspace"
    case .escape: "Esc"
    case .up: "↑"
    case .down: "↓"
    case .left: "←"
    case .right: "→"
    case .pageUp: "PgUp"
    case .pageDown: "PgDn"
    case .home: "Home"
    case .end: "End"
    case .help: "F1"
    }
  }
}

/// A key that the user pressed.
enum StepKey: Hashable, Sendable {
  case character(Unicode.Scalar)
  /// A letter with Control.
  case control(Unicode.Scalar)
  /// A character of pasted text, which is never a command.
  case pasted(Unicode.Scalar)
  case enter
  case backspace
  case escape
  case up
  case down
  case left
  case right
  case pageUp
  case pageDown
  case home
  case end
  /// F1.
  case help
}

/// A line that the user enters at the bottom of the screen.
struct StepPrompt: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    case selector
    case search(StepDirection)
  }

  enum Result: Equatable, Sendable {
    case entered(String)
    case cancelled
  }

  /// The maximum length of the text; no input needs more.
  private static let longest = 1024

  let kind: Kind
  private(set) var text = ""

  init(kind: Kind) {
    self.kind = kind
  }

  /// The sign before the text.
  var sign: String {
    switch kind {
    case .selector: ":"
    case .search(.forward): "/"
    case .search(.back): "?"
    }
  }

  /// Handles a key; returns the result if the key ends the line.
  mutating func handle(_ key: StepKey) -> Result? {
    switch key {
    case .character(let scalar), .pasted(let scalar):
      if !scalar.isUnprintable, text.unicodeScalars.count < Self.longest {
        text.unicodeScalars.append(scalar)
      }
    case .backspace:
      if text.isEmpty { return .cancelled }
      text.removeLast()
    case .control("u"): text = ""
    case .control("w"):
      while text.last == " " { text.removeLast() }
      while let last = text.last, last != " " { text.removeLast() }
    case .enter: return .entered(text)
    case .escape: return .cancelled
    case .control, .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .help: break
    }
    return nil
  }
}
