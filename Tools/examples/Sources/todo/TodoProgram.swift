import Backend
import Foundation
import SessionAccounts
import SessionChanges
import SessionKit

@main
struct TodoProgram {
  static let usage = """
    Usage: todo [--watch] FOLDER

    Adds and edits to-dos online and offline, and sends them, beside a second account. With --watch, prints
    each event of the first account's session as it happens.
    """

  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let watches = arguments.first == "--watch"
    if watches { arguments.removeFirst() }
    guard arguments.count == 1, !arguments[0].hasPrefix("-") else {
      say(usage)
      exit(64)
    }
    let folder = URL(filePath: arguments[0])
    let service = Service()
    let server = try Server(service.answer)
    let app = try await TodoAccounts(in: folder, service: server.url)
    let home: Account
    if let kept = app.accounts.list.all.first {
      home = kept
    } else {
      home = try await app.accounts.add()
    }
    let list = try await app.list(of: home.id)
    let events = list.session.events
    async let watching: Void = watches ? watch(events) : ()
    try await switchAccounts(app, from: home.id)
    try await live(list, service, server)
    try await app.close()
    try await watching
  }

  /// Uses a second account for a while, which does not touch the first one.
  static func switchAccounts(_ app: TodoAccounts, from home: Account.ID) async throws {
    let work = try await app.accounts.add()
    let list = try await app.list(of: work.id)
    try await list.session.login(.password(Service.user.name, Service.user.password))
    try await app.accounts.select(work.id)
    try await list.save(Todo(id: "9", title: "report"))
    say(
      "accounts: \(app.accounts.list.all.count), the second is current, \(try await list.changes.pendingCount()) waits"
    )
    try await app.accounts.select(home)
    say("second account removed: \(try await app.remove(work.id))")
  }

  /// Runs through a user's day.
  static func live(_ list: TodoList, _ service: Service, _ server: Server) async throws {
    try await list.session.login(.password(Service.user.name, Service.user.password))
    try await list.save(Todo(id: "1", title: "milk"))
    say("online: \(try await list.send().acknowledged) sent")
    var milk = try await list.fetch()[0]

    server.goAway()
    milk.title = "oat milk"
    try await list.save(milk)
    try await list.save(Todo(id: "2", title: "bread"))
    let offline = try await list.send()
    say("offline: \(offline.acknowledged) sent, \(try await list.changes.pendingCount()) wait")
    do throws(SessionError) {
      try await list.session.logout()
    } catch {
      say("logout refused: \(error.pendingChanges ?? 0) not sent")
    }

    service.editElsewhere("1", title: "soy milk")
    try server.comeBack()
    let online = try await list.send()
    say("online again: \(online.acknowledged) sent, \(online.givenUp) refused")

    // After a conflict the user's edit is kept until the app decides. This app takes the service's
    // version.
    for conflict in list.changes.queue.failures {
      say("conflict: \(conflict.change.entity?.id.description ?? "?") was \(conflict.reason)")
      try await list.changes.discard(conflict.change.key)
    }
    say("to-dos: \(try await list.fetch().map(\.title).joined(separator: ", "))")
    say("logout: \(try await list.session.logout())")
  }

  static func watch(_ events: SessionEvents) async throws {
    for try await event in events { say("event \(event.sequence): \(event.event.kind)") }
  }
}
