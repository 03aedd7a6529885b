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
