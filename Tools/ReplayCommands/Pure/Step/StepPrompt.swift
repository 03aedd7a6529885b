internal import SessionJSON

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
