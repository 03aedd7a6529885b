import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session that another process controls line by line.
final class Worker: Sendable {
  /// The command in a line.
  private struct Order {
    let number: Int
    let name: String
    let arguments: [String]
  }

  /// One line of standard output; contains no secret.
  private struct Answer: Encodable {
    var number: Int
    var command: String
    var state = "closed"
    var activity: String?
    var generation: UInt64?
    var status: Int?
    var error: String?
  }

  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  let configuration: SessionConfiguration
  let server: URL
  /// The sessions of the command `many`.
  let others = Mutex<[Session]>([])
  private let secrets: StallingSecretStore
  private let opened = Mutex<(session: Session, events: SessionEvents)?>(nil)
  private let changes = Mutex<ChangeLog?>(nil)
  /// The policy for changes; `nil` if the session is opened without a change log.
  private let offline: ChangePolicy?
  /// The descriptor of the answers; 1 unless the standard streams are closed.
  private let answers: Int32
  static let noise = "what a daemon prints to a stream that it has closed\n"

  init?(arguments: ArraySlice<String>) {
    let arguments = Array(arguments)
    guard arguments.count >= 3, let url = URL(string: arguments[2]) else { return nil }
    var policy = SessionPolicy.development
    policy.ending.onRejection = .clear
    policy.limits.credentials = .emailAndPassword(minimumLength: 8)
    policy.limits.requiredItems = [.token, .user, .context]
    var followsOthers = true
    var answers = FileHandle.standardOutput.fileDescriptor
    var offline: ChangePolicy?
    var formerBackends: [BackendIdentity] = []
    var whenUnusable = SessionPolicy.UnusableJournal.refuse
    for option in arguments.dropFirst(3) {
      let parts = option.split(separator: "=")
      guard parts.count == 2 else { return nil }
      switch (parts[0], Int64(parts[1])) {
      case ("timeout", let value?): policy.refresh.timeout = .milliseconds(value)
      case ("grace", let value?): policy.refresh.peerRequestGrace = .milliseconds(value)
      case ("aside", nil): whenUnusable = parts[1] == "yes" ? .setAside : .refuse
      case ("follow", nil): followsOthers = parts[1] == "yes"
      // As daemons do. F_DUPFD leaves free numbers for files that are opened next.
      case ("streams", nil): answers = fcntl(1, F_DUPFD, 10)
      case ("former", nil):
        guard let former = URL(string: String(parts[1])) else { return nil }
        formerBackends = [BackendIdentity(origins: [former])]
      case ("offline", let delay?):
        offline = ChangePolicy(firstDelay: .milliseconds(delay))
        policy.ending.onRejection = .keep
      default: return nil
      }
    }
    self.answers = answers
    server = url
    secrets = StallingSecretStore(folder: arguments[1])
    var configuration = SessionConfiguration(
      journal: arguments[0], secrets: secrets,
      backend: HTTPBackend.snakeCaseJSON(url), policy: policy)
    configuration.followsOthers = followsOthers
    configuration.formerBackends = formerBackends
    configuration.policy.recovery.unusableJournal = whenUnusable
    self.configuration = configuration
    self.offline = offline
  }

  /// Returns the descriptor of the commands, and closes the standard streams if an option says so.
  func takeStreams() -> Int32 {
    guard answers != 1 else { return 0 }
    // The event loop opens its own descriptors first, or they would take the free numbers.
    let isReady = DispatchSemaphore(value: 0)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isReady.signal() }
    isReady.wait()
    defer { for stream: Int32 in 0...2 { close(stream) } }
    return fcntl(0, F_DUPFD, 10)
  }

  /// Performs the commands in the lines, several at once, until there are no more lines.
  func work(_ lines: AsyncStream<String>) async {
    var number = 0
    for await line in lines {
      number += 1
      let words = line.split(separator: " ").map(String.init)
      guard let name = words.first else { continue }
      let order = Order(number: number, name: name, arguments: Array(words.dropFirst()))
      if name == "stall" { secrets.armRead() }
      if name == "open" { await serve(order) } else { Task { await serve(order) } }
    }
  }

  private func serve(_ order: Order) async {
    var answer = Answer(number: order.number, command: order.name)
    do {
      answer.status = try await perform(order)
    } catch {
      answer.error = "\(error)"
    }
    if let session = opened.withLock({ $0?.session }) {
      answer.state = "\(session.state.kind)"
      answer.activity = "\(session.activity)"
      answer.generation = session.currentToken?.generation.number
    }
    say(answer)
  }

  private func perform(_ order: Order) async throws -> Int? {
    if order.name == "open" {
      var configuration = configuration
      if let offline {
        let log = try await ChangeLog.open(
          at: configuration.journal + ".changes", policy: offline)
        configuration.attach(log)
        changes.withLock { $0 = log }
      }
      let session = try await Session.open(configuration)
      let events = session.events
      opened.withLock { $0 = (session, events) }
      return nil
    }
    if order.name == "die", let delay = order.arguments.first.flatMap(Int.init) {
      die(after: delay)
      return nil
    }
    if order.name == "stall" {
      await secrets.stalled()
      return nil
    }
    if order.name == "go" {
      secrets.goOn()
      return nil
    }
    if order.name == "room" {
      secrets.fill(order.arguments == ["no"])
      return nil
    }
    if let counted = try await many(order.name, order.arguments) { return counted }
    guard let (session, events) = opened.withLock({ $0 }) else {
      throw Refusal(description: "it is not open")
    }
    let arguments = order.arguments
    switch (order.name, arguments.count) {
    case ("login", 2):
      try await session.login(.password(arguments[0], arguments[1]))
    case ("login", 1): try await session.login(.refreshToken(Secret(arguments[0])))
    case ("again", 2):
      try await session.reauthenticate(.password(arguments[0], arguments[1]))
    case ("adopt", 2):
      try await session.adopt(
        AdoptedTokens(access: Secret(arguments[0]), refresh: Secret(arguments[1])))
    case ("refresh", 0): try await session.refresh()
    case ("token", 0): try await session.accessToken()
    case ("call", 0): return try await call(with: try await session.accessToken())
    case ("switch", 2):
      try await session.switchContext(
        to: ContextTarget(role: Identifier(arguments[0]), school: Identifier(arguments[1])))
    case ("logout", 0): try await session.logout()
    case ("leave", 0): try await session.logout(.thisDeviceOnly)
    case ("await", 1):
      for try await event in events where "\(event.event.kind)" == arguments[0] { return nil }
      throw Refusal(description: "the events ended")
    case ("changes", 0):
      let log = try await ChangeLog.open(at: configuration.journal + ".changes")
      changes.withLock { $0 = log }
    case ("add", 1):
      guard let log = changes.withLock({ $0 }), let key = UUID(uuidString: arguments[0]) else {
        throw Refusal(description: "no change log is open, or the key is no UUID")
      }
      let task = EntityReference("task", Identifier(arguments[0]))
      try await log.add(.create(task, content: [1], key: key), through: session.gate)
    case ("change", 4): try await change(arguments, through: session.gate)
    case ("drain", 0): return try await drain(session)
    case ("sync", 0): return try await sync(session)
    case ("state", 0): break
    case ("finish", 1):
      guard let limit = Int64(arguments[0]) else { throw Refusal(description: "no milliseconds") }
      // The last two cannot be handled, and are left out.
      session.finishRequests(
        on: [SIGINT, SIGTERM, SIGKILL, 0], within: .milliseconds(limit))
    case ("close", 0): try await session.close()
    default: throw Refusal(description: "no such command")
    }
    return nil
  }

  /// Returns the open change log; throws if there is none.
  func log() throws -> ChangeLog {
    guard let log = changes.withLock({ $0 }) else {
      throw Refusal(description: "no change log is open")
    }
    return log
  }

  /// Sends the waiting changes; returns how many the server accepted.
  private func drain(_ session: Session) async throws -> Int? {
    let log = try log()
    let api = SessionInterceptor(session)
    let url = server.appending(path: "materials")
    let drained = try await log.drain(through: session.gate) { waiting in
      var request = URLRequest(url: url)
      request.setValue(waiting.change.key.description, forHTTPHeaderField: "Idempotency-Key")
      do {
        let (_, response) = try await api.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return status == 200 ? .done : .tryLater("\(status)")
      } catch {
        return .notReached("\(error)")
      }
    }
    return drained.acknowledged
  }

  /// Kills this process after a time, regardless of what it does.
  private func die(after microseconds: Int) {
    let moment = ContinuousClock.now + .microseconds(microseconds)
    Thread.detachNewThread {
      while ContinuousClock.now < moment { sched_yield() }
      kill(getpid(), SIGKILL)
    }
  }

  /// Requests the protected resource; returns the status of the answer.
  private func call(with token: AccessToken) async throws -> Int? {
    var request = URLRequest(url: server.appending(path: "materials"))
    request.setValue("Bearer \(token.plaintext)", forHTTPHeaderField: "Authorization")
    let (_, response) = try await URLSession.shared.data(for: request)
    return (response as? HTTPURLResponse)?.statusCode
  }

  /// Writes a line with one call, so that lines do not mix.
  private func say(_ answer: Answer) {
    if answers != 1 {
      for stream: Int32 in 0...2 { _ = write(stream, Self.noise, Self.noise.utf8.count) }
    }
    do {
      FileHandle(fileDescriptor: answers).write(try JSONEncoder().encode(answer) + Data("\n".utf8))
    } catch {
      FileHandle.standardError.write(Data("an answer cannot be written: \(error)\n".utf8))
    }
  }
}
