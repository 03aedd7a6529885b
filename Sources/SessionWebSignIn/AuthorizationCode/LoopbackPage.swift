#if os(macOS) || os(Linux)
public import Foundation
import SessionCore
import SessionKit
import Synchronization

/// The user's browser, which sends the user back to a port of this machine.
///
/// It is for programs without an address of their own, such as command-line tools. The port is open from the
/// beginning of a login to its redirect.
///
/// ```swift
/// let code = try provider.authorizationCode(client: .form(id: "notes"), redirect: "http://127.0.0.1/login")
/// try await session.login(.authorizationCode(code, on: LoopbackPage()))
/// ```
///
/// The redirect is `http://127.0.0.1` or `http://[::1]`, with any path. It is registered at the server without a
/// port, and the server must accept every port. If the redirect has a port, only that one is used.
///
/// The browser has its cookies at every login, so a private page is not possible. With the prompt `.always`
/// the server asks nevertheless. Other users of the machine may see the page's address in the list of
/// processes, and cannot redeem a code with it. Sources: RFC 8252 §7.3 and §8.3.
///
/// - Requirement: LOG-5
public struct LoopbackPage: AuthorizationPage {
  /// What the browser shows after the redirect, in the user's language.
  public var text = "The login page has answered the app. Close this page and return to the app."
  /// How long the user may take; 10 minutes by default.
  ///
  /// Time in which the system sleeps does not count. After it the login throws
  /// `WebSignInProblem.noRedirect`.
  public var limit = Duration.seconds(600)
  fileprivate let show: @Sendable (URL) async throws -> Void

  /// Creates a page that is shown by a function, for example one that prints the address first.
  ///
  /// If the function throws, the login ends with that error. It is cancelled when the login ends.
  public init(
    show: @escaping @Sendable (URL) async throws -> Void = { try await openBrowser($0) }
  ) {
    self.show = show
  }

  /// Opens an address in the user's browser, by `open` on macOS and `xdg-open` elsewhere.
  ///
  /// It throws `WebSignInProblem.noPage` if there is no browser.
  public static func openBrowser(_ address: URL) async throws {
    #if os(macOS)
    let opener = "open"
    #else
    let opener = "xdg-open"
    #endif
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [opener, address.absoluteString]
    // A browser that it starts would use the terminal of the app.
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { throw WebSignInProblem.noPage("\(opener) does not start") }
    // It may be the browser itself, which outlives the login.
    while process.isRunning { try await Task.sleep(for: .milliseconds(50)) }
    guard process.terminationStatus == 0 else {
      throw WebSignInProblem.noPage(
        "\(opener) opened no browser, and ended with \(process.terminationStatus). Show the "
          + "address in another way, or log in by the device grant.")
    }
  }

  /// Opens a port, and returns a page that waits there, with the address of the port.
  public func prepared(
    for redirect: String
  ) async throws -> (page: any AuthorizationPage, redirect: String) {
    var parts = URLComponents(string: redirect)
    let name = parts?.host?.trimmingCharacters(in: ["[", "]"]) ?? ""
    guard parts?.scheme?.lowercased() == "http", parts?.user == nil, parts?.password == nil,
      let host = LoopbackHost(rawValue: name), let wanted = UInt16(exactly: parts?.port ?? 0)
    else {
      throw WebSignInProblem.noPage(
        "the redirect is neither http://127.0.0.1 nor http://[::1] (RFC 8252 §7.3). Change "
          + "AuthorizationCode.redirect.")
    }
    do throws(SocketError) {
      let (socket, port) = try Socket.listening(port: wanted, on: host)
      parts?.port = Int(port)
      return (LoopbackListener(self, socket), parts?.string ?? redirect)
    } catch {
      throw WebSignInProblem.noPage(
        "\(error.call) at port \(wanted) of \(name) failed with errno \(error.code). Check that "
          + "the port is free, and that this process may open sockets.")
    }
  }

  /// Shows the address on a port of its own.
  public func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
    let (page, redirect) = try await prepared(for: redirect)
    return try await page.open(address, redirect: redirect, isPrivate: isPrivate)
  }
}

/// A port that waits for the redirect of one login.
private final class LoopbackListener: AuthorizationPage {
  private let page: LoopbackPage
  private let socket: Mutex<Socket?>

  init(_ page: LoopbackPage, _ socket: Socket) {
    self.page = page
    self.socket = Mutex(socket)
  }

  deinit { socket.withLock { $0.take() }?.close() }

  func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL? {
    guard let redirect = LoopbackRedirect(redirect, from: address),
      let listener = socket.withLock({ $0.take() })
    else { throw WebSignInProblem.viewFailed }
    defer { listener.close() }
    return try await withThrowingTaskGroup(of: URL?.self) { group in
      group.addTask { [page] in
        try await page.show(address)
        return nil
      }
      group.addTask { try await self.receive(redirect, at: listener) }
      defer { group.cancelAll() }
      for try await found in group { if let found { return found } }
      return nil
    }
  }

  /// Returns the first request that is the redirect.
  ///
  /// No call blocks: what has arrived is read in turns, 20 ms apart.
  private func receive(_ redirect: LoopbackRedirect, at listener: Socket) async throws -> URL {
    let clock = SuspendingClock()
    let end = clock.now + page.limit
    var visitors: [LoopbackVisitor] = []
    defer { for visitor in visitors { visitor.socket.close() } }
    while clock.now < end {
      // At most 16, because another program may connect again and again.
      for _ in 0..<16 {
        guard let socket = listener.accept().0 else { break }
        visitors.append(LoopbackVisitor(socket: socket, end: clock.now + .seconds(10)))
      }
      for index in visitors.indices.reversed() {
        if let found = visitors[index].turn(redirect, page.text) { return found }
        // The oldest leave, so that visitors who say nothing do not keep the browser out.
        let isCrowded = index < visitors.count - 32
        if isCrowded || visitors[index].isGone || visitors[index].end < clock.now {
          visitors.remove(at: index).socket.close()
        }
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw WebSignInProblem.noRedirect(within: page.limit)
  }
}

/// One connection: it sends a request, receives a response and leaves.
private struct LoopbackVisitor {
  let socket: Socket
  /// When the connection is closed at the latest.
  let end: SuspendingClock.Instant
  var isGone = false
  var input: [UInt8] = []
  var isAnswered = false

  /// Reads what has arrived, and answers a complete request; returns the redirect.
  mutating func turn(_ redirect: LoopbackRedirect, _ text: String) -> URL? {
    switch socket.read() {
    case .wouldBlock: return nil
    case .ended: isGone = true
    // The rest is read, because a close before it would discard the response.
    case .bytes where isAnswered: return nil
    case .bytes(let bytes): input += bytes
    }
    switch isGone ? .incomplete : redirect.reply(to: input) {
    case .incomplete: return nil
    case .refused(let status):
      answer(status, "This is not the redirect of a login. Return to the app.")
      return nil
    case .accepted(let url):
      answer(200, text)
      return url
    }
  }

  private mutating func answer(_ status: Int, _ text: String) {
    // A response is shorter than the buffer of a new connection.
    _ = socket.write(LoopbackRedirect.response(status, text))
    socket.finishWriting()
    isAnswered = true
  }
}
#endif
