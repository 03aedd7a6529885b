/// The options of a soak.
struct SoakOptions {
  static let usage = """
    Usage: soak urlsession|asynchttpclient [--seconds N] [--sessions N] [--life N] [--calls N]
      --seconds   how long it runs, 60 by default
      --sessions  how many sessions live through all of it, 20 by default
      --life      how many seconds a token lives, 4 by default
      --calls     how many calls all sessions make in a second, 200 by default
    """

  /// An option that is not right.
  struct Wrong: Error { let reason: String }

  enum Client: String { case urlsession, asynchttpclient }

  let client: Client
  var seconds = 60
  var sessions = 20
  var life = 4
  var calls = 200

  init(_ arguments: [String]) throws(Wrong) {
    guard let name = arguments.first, let client = Client(rawValue: name) else {
      throw Wrong(reason: "The first argument is the client: urlsession or asynchttpclient.")
    }
    self.client = client
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
        throw Wrong(reason: "\(option) needs a number above 0.")
      }
      switch option {
      case "--seconds": seconds = number
      case "--sessions": sessions = number
      case "--life": life = number
      case "--calls": calls = number
      default: throw Wrong(reason: "There is no option \(option).")
      }
    }
  }
}
