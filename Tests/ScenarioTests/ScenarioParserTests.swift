import SessionTestKit
import SessionTestSupport
import Testing

@Suite("The strict parser of scenario files")
struct ScenarioParserTests {
  static let good = """
    scenario A day
    proves LOG-4
    app EDU
      environment staging
    user maria maria@school.test correct-horse-9

    at 0s
    do login maria
    request POST /auth/login
      json {"email": "maria@school.test",
        "password": "correct-horse-9"}
    answer 200
      json {"access_token": "<A1>"}
    event login user=u-7
    result ok
    """

  /// A line that replaces one of the correct file, and the expected error.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let line: Int
    let text: String
    let told: String

    init(_ line: Int, _ text: String, _ told: String) {
      (self.line, self.text, self.told) = (line, text, told)
    }

    var testDescription: String { text }
  }

  static let mistakes = [
    Mistake(1, "senario A day", "1:1: \"senario\" is not a step; did you mean \"scenario\"?"),
    Mistake(2, "proves LOG4", "2:8: \"LOG4\" is not a requirement such as REF-3"),
    Mistake(3, "app EUD", "3:5: \"EUD\" is not an app; did you mean"),
    Mistake(
      4, "  enviroment staging",
      "4:3: \"enviroment\" is not a setting of EDU; did you mean \"environment\"?"),
    Mistake(
      4, "  environment stagging",
      "4:15: \"stagging\" is not an environment; did you mean \"staging\"?"),
    Mistake(5, "user maria", "5:6: a user needs a name, a user name and a password"),
    Mistake(6, "start yesterday", "6:7: a start has the form 2026-11-21T08:00:00Z"),
    Mistake(
      6, "policy maximumAttempt=2",
      "6:8: \"maximumAttempt\" is not a field of this line; did you mean \"maximumAttempts\"?"),
    Mistake(6, "policy onRejection=never", "6:8: \"never\" is not a value of onRejection"),
    Mistake(7, "at noon", "7:4: \"noon\" does not have the form 55m1s"),
    Mistake(7, "at -5m", "7:4: \"-5m\" does not have the form 55m1s"),
    Mistake(7, "clock 5m", "7:7: \"5m\" does not have the form +9h or -3h"),
    Mistake(7, "network of", "7:9: \"of\" is neither on nor off; did you mean \"off\"?"),
    Mistake(8, "do logn maria", "8:4: \"logn\" is not a command; did you mean \"login\"?"),
    Mistake(8, "do login mario", "8:10: \"mario\" is not a user; did you mean \"maria\"?"),
    Mistake(8, "do login maria now", "8:16: \"now\" is one argument too many"),
    Mistake(8, "do login maria as ok", "8:19: \"ok\" is not a name"),
    Mistake(8, "do register mario", "8:13: \"mario\" is not a user; did you mean \"maria\"?"),
    Mistake(8, "do register", "8:4: register needs a user"),
    Mistake(8, "do social google", "8:4: social needs the other service and its token"),
    Mistake(8, "do social google <g1>", "8:18: <g1> is neither <A1> nor"),
    Mistake(8, "do logout discardin", "8:11: \"discardin\" is one argument too many"),
    Mistake(8, "do unlock now", "8:11: \"now\" is one argument too many"),
    Mistake(6, "policy inactivityLimit=1ms", "6:8: \"1ms\" is not a value of inactivityLimit"),
    Mistake(6, "policy signInsPerMinute=0", "6:8: \"0\" is not a value of signInsPerMinute"),
    Mistake(6, "policy profileCheck=never", "6:8: \"never\" is not a value of profileCheck"),
    Mistake(15, "pending many", "15:9: expected a count"),
    Mistake(15, "cleared", "15:8: expected a count"),
    Mistake(15, "received all", "15:10: expected a count"),
    Mistake(15, "cleared 1 times", "15:11: \"times\" is one argument too many"),
    Mistake(9, "request POST auth/login", "9:9: a request has the form POST /auth/refresh"),
    Mistake(9, "request PSOT /auth/login", "9:9: \"PSOT\" is not a method; did you mean \"POST\"?"),
    Mistake(10, "  jsn {", "10:3: \"jsn\" is not a part of a request; did you mean \"json\"?"),
    Mistake(10, "  json {\"email\" \"x\",", "10:17: the JSON is invalid here"),
    Mistake(11, "    \"password\": correct}", "11:17: the JSON is invalid here"),
    Mistake(11, "    \"password\": \"<A1>\"}", "11:18: \"A1\" is not given by an answer above"),
    Mistake(
      11, "    \"password\": \"<a1>\"}",
      "11:18: <a1> is neither <A1> nor <A1: jwt 3600s sub=u-7>"),
    Mistake(12, "anwser 200", "12:1: \"anwser\" is not a step; did you mean \"answer\"?"),
    Mistake(12, "answer 20", "12:8: a status must be from 200 to 599"),
    Mistake(12, "answer 200 to login", "12:15: \"login\" is not a label of a line above"),
    Mistake(8, "do page", "8:4: EDU has no sign-in page; B2C has one"),
    Mistake(8, "page types maria", "8:1: EDU has no sign-in page; B2C has one"),
    Mistake(4, "  tokens provider", "4:3: \"tokens\" is not a setting of EDU"),
    Mistake(10, "  query state=x<S1>", "10:15: S1 is read from the address: write <S1> alone"),
    Mistake(10, "  query state=<S1: jwt 1s>", "10:15: S1 is read from the address"),
    Mistake(10, "  query a=1 a=2", "10:13: \"a\" occurs twice"),
    Mistake(13, "  page signin", "13:8: a page has the form /signin forgot=/forgotten"),
    Mistake(
      13, "  page /signin forget=/f",
      "13:16: \"forget\" is not a field of this line; did you mean \"forgot\"?"),
    Mistake(13, "  header Location: <l1>", "13:20: <l1> is neither <A1> nor"),
    Mistake(13, "  header Authorization: x", "13:3: use bearer or basic"),
    Mistake(13, "\thtml x", "13:1: a line must not contain a tab; indent by two spaces"),
    Mistake(
      14, "event logn user=u-7",
      "14:7: \"logn\" is not a known event; did you mean \"login\"?"),
    Mistake(
      14, "event login usr=u-7",
      "14:13: \"usr\" is not a field of this line; did you mean \"user\"?"),
    Mistake(14, "event login user=u-7 user=u-8", "14:22: \"user\" occurs twice"),
    Mistake(14, "event login u-7", "14:13: \"u-7\" does not have the form name=value"),
    Mistake(14, "event login user=\"u-7", "14:18: this quote is not closed"),
    Mistake(14, "app EDU", "14:1: \"app\" must be above the first step"),
    Mistake(
      15, "result error expird", "15:14: \"expird\" is not an error; did you mean \"expired\"?"),
    Mistake(15, "result maybe", "15:8: \"maybe\" is neither ok nor error"),
    Mistake(15, "stored tokens", "15:8: \"tokens\" is not an item; did you mean \"token\"?"),
    Mistake(
      6, "changes limits=3",
      "6:9: \"limits\" is not a field of this line; did you mean \"limit\"?"),
    Mistake(6, "changes attempts=0", "6:9: \"0\" is not a value of attempts"),
    Mistake(15, "waiting 1", "15:1: the app has no change log; write \"changes\" above"),
    Mistake(15, "do drain", "15:4: the app has no change log"),
    Mistake(15, "do add create task/1 <K1>", "15:4: the app has no change log"),
    Mistake(15, "change added", "15:1: the app has no change log"),
    Mistake(15, "kill app now", "15:10: \"now\" is one argument too many"),
    Mistake(15, "power off", "15:7: the only form is \"power cut\""),
    Mistake(15, "power cut all", "15:11: \"all\" is one argument too many"),
    Mistake(
      15, "shows token=<A2>",
      "15:13: \"A2\" is not given by an answer above; did you mean \"A1\"?"),
  ]

  @Test("TST-2 an error names its place and the word that was probably meant", arguments: mistakes)
  func mistake(mistake: Mistake) throws {
    var lines = Self.good.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[mistake.line - 1] = mistake.text
    let errors = try #require(Self.errors(of: lines.joined(separator: "\n")))
    #expect(
      errors.errors.contains { $0.description.hasPrefix("x:" + mistake.told) }, "\(errors)")
  }

  /// The last line of a file for an app that has a change log.
  static let changeMistakes = [
    Mistake(
      15, "do ad create task/1 <K2>", "15:4: \"ad\" is not a command; did you mean \"add\"?"),
    Mistake(15, "do add create task/1", "15:4: a change has the form add create task/5f1c <K1>"),
    Mistake(
      15, "do add craete task/1 <K2>",
      "15:8: \"craete\" is neither an operation nor a method of a request; did you mean \"create\"?"
    ),
    Mistake(15, "do add create task <K2>", "15:15: an entity has the form task/5f1c"),
    Mistake(
      15, "do add PSOT /notes <K2>", "15:8: \"PSOT\" is not a method; did you mean \"POST\"?"),
    Mistake(15, "do add POST //notes <K2>", "15:13: this is not the path of a request"),
    Mistake(15, "do add create task/1 K2", "15:22: a key has the form <K1>"),
    Mistake(15, "do add create task/1 <K2: jwt>", "15:22: a key has the form <K1>"),
    Mistake(15, "do add create task/1 <K2> now", "15:27: \"now\" is one argument too many"),
    Mistake(15, "do discard", "15:4: expected a key such as <K1>"),
    Mistake(
      15, "do discard <A2>", "15:12: \"A2\" is not given by an answer above; did you mean \"A1\"?"),
    Mistake(15, "change aded", "15:8: \"aded\" is not a known change; did you mean \"added\"?"),
    Mistake(
      15, "change sent kye=<A1>",
      "15:13: \"kye\" is not a field of this line; did you mean \"key\"?"),
    Mistake(15, "waiting", "15:8: expected a count, keys or nothing"),
    Mistake(15, "waiting nothing now", "15:17: \"now\" is one argument too many"),
    Mistake(15, "waiting <A1> A2", "15:14: a key has the form <K1>"),
    Mistake(15, "givenUp many", "15:9: expected a count"),
    Mistake(10, "  key", "10:3: expected a key such as <K1>"),
    Mistake(
      15, "do add create task/1 <K2>\n  jsn {}",
      "16:3: \"jsn\" is not a part of a change; did you mean \"json\"?"),
    Mistake(15, "do add create task/1 <K2>\n  mentions", "16:3: mentions needs an entity"),
    Mistake(15, "do add create task/1 <K2>\n  json {}\n  json {}", "17:3: there is one already"),
  ]

  @Test(
    "TST-2 SYN-2 an error in a line about changes names its place", arguments: changeMistakes)
  func changeMistake(mistake: Mistake) throws {
    var lines = Self.good.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[mistake.line - 1] = mistake.text
    lines[5] = "changes"
    let errors = try #require(Self.errors(of: lines.joined(separator: "\n")))
    #expect(
      errors.errors.contains { $0.description.hasPrefix("x:" + mistake.told) }, "\(errors)")
  }

  /// The same for an app that signs in on a page.
  static let paged = """
    scenario A page
    proves LOG-5
    app B2C
      client app-1
      tokens provider
    user maria maria@school.test correct-horse-9

    do page
    page types maria
    do redirect app://auth?code=<C1>
    result ok
    """

  static let pageMistakes = [
    Mistake(
      5, "  tokens provder",
      "5:10: \"provder\" is not an owner of tokens; did you mean \"provider\"?"),
    Mistake(
      7, "known session\n  json {}", "7:1: if the provider keeps the tokens, a sign-in begins"),
    Mistake(8, "do page now", "8:9: \"now\" is one argument too many"),
    Mistake(9, "page", "9:5: expected an action of the user"),
    Mistake(
      9, "page forgts",
      "9:6: \"forgts\" is not an action on a page; did you mean \"forgets\"?"),
    Mistake(9, "page types", "9:6: types needs a user"),
    Mistake(9, "page types mario", "9:12: \"mario\" is not a user; did you mean \"maria\"?"),
    Mistake(9, "page leaves maria", "9:13: \"maria\" is one argument too many"),
    Mistake(10, "do redirect", "10:4: redirect needs an address, such as app://auth"),
  ]

  @Test("TST-2 WEB-5 an error in a line about a page names its place", arguments: pageMistakes)
  func pageMistake(mistake: Mistake) throws {
    #expect(Self.errors(of: Self.paged) == nil)
    var lines = Self.paged.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[mistake.line - 1] = mistake.text
    let errors = try #require(Self.errors(of: lines.joined(separator: "\n")))
    #expect(errors.errors.contains { $0.description.hasPrefix("x:" + mistake.told) }, "\(errors)")
  }

  @Test("TST-2 the correct file is read")
  func noMistake() throws {
    let scenario = try Scenario(Self.good, file: "x")
    #expect(scenario.title == "A day")
    #expect(scenario.requirements == ["LOG-4"])
  }

  @Test("TST-2 at most twenty mistakes are reported at once, each with its line")
  func several() throws {
    let text = Self.good.replacing("event login", with: "event logn")
      .replacing("at 0s", with: "at once").replacing("result ok", with: "result k")
    let errors = try #require(Self.errors(of: text)).errors
    #expect(errors.map(\.line) == [7, 14, 15])
    let many = String(repeating: "nothing\n", count: 100)
    #expect(Self.errors(of: many)?.errors.count == ScenarioErrors.limit)
  }

  @Test("TST-2 a missing required line is reported")
  func missing() {
    #expect(
      Self.errors(of: "")?.errors.map(\.problem) == [
        "there is no scenario line", "there is no proves line", "there is no app line",
        "there is no do line",
      ])
  }

  @Test("TST-2 a mutilated file is refused, fails or passes, and ends no process")
  func fuzzed() {
    let choices = Choices(seed: 5)
    var refused = 0
    var failed = 0
    let texts = ScenarioFolder.files.map(\.text) + [Self.good]
    let count = Sweep("mutilated scenarios", takingOneOf: 4).cases(of: 800)
    for _ in 0..<count {
      guard let text = choices.pick(texts) else { break }
      let mutilated = mutilate(text, choices)
      if let errors = Self.errors(of: mutilated) {
        refused += 1
        let lines = mutilated.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(errors.errors.allSatisfy { $0.line >= 1 && $0.line <= lines.count })
        #expect(!errors.errors.isEmpty && errors.errors.count <= ScenarioErrors.limit)
      } else if let failure = ScenarioSelfTests.problem(in: mutilated) {
        failed += 1
        #expect(failure.line >= 1)
      }
    }
    #expect(refused > count / 4 && failed > count / 16, "\(refused), \(failed)")
  }

  private func mutilate(_ text: String, _ choices: Choices) -> String {
    var bytes = Array(text.utf8)
    let odd = Array("<>{}\"\\=: \n\t#x0-é\u{0}\r".utf8)
    for _ in 0..<choices.draw(in: 1...2) {
      let place = choices.draw(in: 0...(bytes.count - 1))
      switch choices.draw(below: 4) {
      case 0: bytes[place] = choices.pick(odd) ?? 0
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(choices.pick(odd) ?? 0, at: place)
      default:
        let end = min(bytes.count, place + choices.draw(in: 1...60))
        let part = bytes[place..<end]
        bytes.insert(contentsOf: part, at: choices.draw(in: 0...(bytes.count - 1)))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func errors(of text: String) -> ScenarioErrors? {
    do throws(ScenarioErrors) {
      _ = try Scenario(text, file: "x")
      return nil
    } catch {
      return error
    }
  }
}
