@_spi(Internals) internal import SessionCore
internal import SessionExplain

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Everything that a command uses in addition to its arguments.
struct ToolContext {
  /// The tool's version.
  static let version = LibraryVersion.current

  /// A variable of the environment that the tool reads.
  enum Variable: String, CaseIterable, Sendable {
    /// The number of columns of the terminal, if it is not what the terminal says.
    case columns = "COLUMNS"
    /// The key of pseudonyms.
    case key = "SESSIONREPLAY_KEY"
    /// The file with the key of pseudonyms.
    case keyFile = "SESSIONREPLAY_KEY_FILE"
    /// Any value except the empty one disables colours.
    case noColor = "NO_COLOR"
    /// The type of the terminal.
    case terminal = "TERM"
    /// The folder of temporary files.
    case temporaryFolder = "TMPDIR"
  }

  /// The destination of the answer.
  let output: Output
  /// The destination of progress and notes.
  let errors: Output
  /// How `output` is coloured.
  let style: Style
  let environment: (String) -> String?
  /// Whether the command must end.
  let interruption: Interruption

  /// The number of columns to which text is fitted; `nil` if the output is no terminal.
  ///
  /// `COLUMNS` overrides what the terminal says. Text in a pipe or a file is never fitted.
  var columns: Int? {
    guard output.isTerminal else { return nil }
    let said = value(of: .columns).flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    return max(Self.leastColumns, said ?? output.width ?? 100)
  }

  private static let leastColumns = 40

  /// The present time of the system's clock.
  static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(
      milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Returns the variable's value; `nil` if it is not set.
  func value(of variable: Variable) -> String? { environment(variable.rawValue) }
}

extension Style {
  /// When the output uses colours.
  enum Choice: String, CaseIterable, Sendable {
    case auto = "auto"
    case always = "always"
    case never = "never"
  }

  /// Decides about colours: `NO_COLOR` (no-color.org) and a dumb terminal disable them; `always`
  /// overrules both.
  init(_ choice: Choice, isTerminal: Bool, environment: (String) -> String?) {
    func value(_ variable: ToolContext.Variable) -> String? { environment(variable.rawValue) }
    let isColored =
      switch choice {
      case .always: true
      case .never: false
      case .auto:
        isTerminal && (value(.noColor) ?? "").isEmpty && value(.terminal) != "dumb"
      }
    self.init(isColored: isColored)
  }
}

/// The time zone in which times are shown and read.
enum TimeZoneChoice: Equatable, Sendable {
  /// Coordinated universal time, marked `Z`: what servers log.
  case utc
  /// This computer's zone, marked with its offset: `+01:00`.
  case local

  /// Returns the milliseconds that the zone is ahead of UTC at `time`.
  func offset(at time: Timestamp) -> Int64 {
    self == .local ? Self.localOffset(at: time) : 0
  }

  private static func localOffset(at time: Timestamp) -> Int64 {
    var seconds = time_t(clamping: time.milliseconds / 1000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return Int64(parts.tm_gmtoff) * 1000
  }

  /// The zone for formatters that may not ask the system.
  var display: DisplayZone {
    switch self {
    case .utc: .utc
    case .local: DisplayZone { Self.localOffset(at: $0) }
    }
  }

  /// Returns `2026-11-21 14:00:05.205Z`.
  func text(_ time: Timestamp) -> String { display.text(time) }
}
