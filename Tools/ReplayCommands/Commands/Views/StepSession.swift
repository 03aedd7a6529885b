internal import SessionExplain

/// A run of the debugger: passes keys to the model, and draws its screens on the terminal.
final class StepSession {
  /// How long the debugger waits for the rest of a key after `ESC`, in milliseconds, and the bounds
  /// of `ESCDELAY`.
  ///
  /// On a slow line the bytes of one key arrive separately. curses waits a second, too.
  private static let escapeWait: UInt64 = 1_000
  private static let escapeWaits: ClosedRange<UInt64> = 10...60_000
  /// How often the file is checked for growth, in milliseconds.
  private static let tick: Int32 = 500

  private let source: StepFile
  private let terminal: RawTerminal
  private let interruption: Interruption
  private let isColored: Bool
  private(set) var model: StepModel
  private var reader = KeyReader()
  /// How long the debugger waits for the rest of a key after `ESC`, and since when, in milliseconds.
  private let escapeWait: UInt64
  private var pendingSince: UInt64 = 0
  /// Keys that were pressed and not yet handled.
  private var keys: [StepKey] = []
  /// The screen on the terminal; `nil` if it is unknown.
  private var shown: Screen?
  /// The screen below the progress line of a long search.
  private var base: Screen?
  /// Whether any key stops the present search.
  private var isOpening = false
  private var isClosed = false
  private var isReplaced = false

  init(
    _ source: StepFile, _ model: StepModel, _ terminal: RawTerminal, _ context: ToolContext
  ) {
    self.source = source
    self.model = model
    self.terminal = terminal
    interruption = context.interruption
    isColored = context.style.isColored
    escapeWait =
      context.value(of: .escapeDelay).flatMap { UInt64($0) }
      .flatMap { Self.escapeWaits.contains($0) ? $0 : nil } ?? Self.escapeWait
    self.model.size = terminal.size
  }

  /// Shows the journal until the user leaves; if `isOpening` is true, it first goes to the last
  /// end.
  func run(isOpening: Bool) throws(ToolError) {
    try terminal.enter()
    defer { terminal.leave() }
    source.pulse = { [unowned self] part in goesOn(part) }
    defer { source.pulse = { _ in true } }
    var source = source
    if isOpening {
      self.isOpening = true
      base = model.screen(&source)
      model.begin(&source)
      self.isOpening = false
    }
    while !interruption.isRaised, !isClosed {
      try followTerminal()
      try draw(&source)
      try wait(&source)
      while !keys.isEmpty, !interruption.isRaised {
        base = shown
        guard let effect = model.handle(keys.removeFirst(), &source) else { continue }
        switch effect {
        case .leave: return
        case .interrupt: return interruption.raise(RawTerminal.interrupt)
        case .suspend: try suspend()
        case .redraw: shown = nil
        case .bell: try terminal.write([0x07])
        }
      }
    }
  }

  private func draw(_ source: inout StepFile) throws(ToolError) {
    let screen = model.screen(&source)
    guard screen != shown else { return }
    try terminal.write(screen.bytes(replacing: shown, isColored: isColored))
    shown = screen
  }

  /// Handles the news of the terminal.
  private func followTerminal() throws(ToolError) {
    switch terminal.takeNews() {
    case .continued?:
      try terminal.enter()
      shown = nil
    case .suspend?: try suspend()
    case nil: break
    }
    let size = terminal.size
    guard size != model.size else { return }
    model.size = size
    shown = nil
  }

  private func suspend() throws(ToolError) {
    try terminal.suspend()
    shown = nil
  }

  /// Waits for a key, a signal, or more records.
  private func wait(_ source: inout StepFile) throws(ToolError) {
    guard keys.isEmpty else { return }
    let isQuiet = take(within: Self.tick)
    guard isQuiet, keys.isEmpty else { return }
    _ = source.look()
    if !isReplaced, source.isReplaced() {
      isReplaced = true
      model.message = .init(
        text: "Another file is at this path now; this shows the one that was.", role: .warn)
    }
  }

  /// Reads the keys that arrive in time; returns true if no byte arrived.
  private func take(within milliseconds: Int32) -> Bool {
    let wait =
      reader.isPending ? min(milliseconds, Int32(clamping: escapeLeft)) : milliseconds
    switch terminal.read(within: wait) {
    case .bytes(let bytes):
      for byte in bytes {
        if let key = reader.push(byte) { keys.append(key) }
      }
      if reader.isPending { pendingSince = ProgressBar.uptime() }
      return false
    case .nothing:
      // A signal also ends the wait, so the time is checked before `ESC` counts as a key.
      if reader.isPending, escapeLeft == 0, let key = reader.timeout() { keys.append(key) }
      return true
    case .closed:
      isClosed = true
      return false
    }
  }

  /// How long the rest of a key is still waited for, in milliseconds.
  private var escapeLeft: UInt64 {
    let waited = ProgressBar.uptime() &- pendingSince
    return waited < escapeWait ? escapeWait - waited : 0
  }

  /// Shows the progress of a search; returns whether the search goes on.
  private func goesOn(_ part: Double) -> Bool {
    guard !interruption.isRaised, !isClosed else { return false }
    let old = keys.count
    _ = take(within: 0)
    if isOpening, !keys.isEmpty { return false }
    if let stop = keys[old...].firstIndex(where: { $0 == .escape || $0 == .control("c") }) {
      // The key that stops the search has no other effect.
      keys.remove(at: stop)
      return false
    }
    show(part)
    return true
  }

  private func show(_ part: Double) {
    guard let base else { return }
    var line = ScreenLine(columns: base.size.columns)
    line.append(" reading, \(Int(part * 100)) %", .bold)
    line.append(isOpening ? "   any key stops here" : "   Esc stops", .dim)
    let screen = base.replacingLastLine(line)
    guard screen != shown else { return }
    do throws(ToolError) {
      try terminal.write(screen.bytes(replacing: shown, isColored: isColored))
      shown = screen
    } catch {
      isClosed = true
    }
  }
}
