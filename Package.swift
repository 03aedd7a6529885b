// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built alike: Swift 6 mode, warnings are errors, an import is internal
/// unless it says otherwise, and nothing is visible that the file did not import.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// The privacy manifest is for Apple's systems. As a resource it costs a bundle and code that finds it, so
// other systems build without it.
#if os(macOS)
let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let notBuilt: [String] = []
#else
let privacyManifest: [Resource] = []
let notBuilt = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
  name: "session-journal",
  platforms: [.iOS(.v18), .macOS(.v15), .watchOS(.v11), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "SessionCore", targets: ["SessionCore"]),
    .library(name: "SessionJournal", targets: ["SessionJournal"]),
    .library(name: "SessionKit", targets: ["SessionKit"]),
    .library(name: "SessionHTTP", targets: ["SessionHTTP"]),
    .library(name: "SessionChanges", targets: ["SessionChanges"]),
    .library(name: "SessionAccounts", targets: ["SessionAccounts"]),
    .library(name: "SessionWebSignIn", targets: ["SessionWebSignIn"]),
    .library(name: "SessionMessages", targets: ["SessionMessages"]),
    .library(name: "SessionExplain", targets: ["SessionExplain"]),
    .library(name: "SessionTestKit", targets: ["SessionTestKit"]),
    .executable(name: "sessionreplay", targets: ["sessionreplay"]),
    .executable(name: "sessiondemo", targets: ["sessiondemo"]),
  ],
  traits: [
    .trait(
      name: "URLSession",
      description: "Calls and token requests by URLSession. On Linux it needs libcurl."),
    .default(enabledTraits: ["URLSession"]),
  ],
  targets: [
    // Values and rules. Imports nothing, not even Foundation.
    .target(name: "SessionCore", swiftSettings: strict),

    // CRC32C: the one instruction that Swift cannot reach.
    .target(name: "CChecksum"),

    // A file's status without its times: the one call of Linux that Swift does not show.
    .target(name: "CFileStatus"),

    // Locks that end with an open file: the calls of Linux whose constants Swift does not show.
    .target(name: "CFileLock"),

    // An append-only file of opaque records. Knows nothing of sessions.
    .target(
      name: "SessionJournal", dependencies: ["CChecksum", "CFileStatus", "CFileLock"],
      swiftSettings: strict),

    // The one reader and writer of JSON. Imports nothing.
    .target(name: "SessionJSON", swiftSettings: strict),

    // The living session: performs effects. What an app imports.
    .target(
      name: "SessionKit", dependencies: ["SessionCore", "SessionJournal", "SessionJSON"],
      exclude: notBuilt, resources: privacyManifest, swiftSettings: strict),

    // A backend that is configured by values, its transport, and calls by any HTTP client.
    .target(
      name: "SessionHTTP", dependencies: ["SessionKit", "SessionCore", "SessionJSON"],
      swiftSettings: strict),

    // What waits for the server, as values: the queue of changes, its records and their bytes.
    .target(name: "SessionChangeQueue", dependencies: ["SessionCore"], swiftSettings: strict),

    // Offline changes: their log, which is a host of a session, and the gate of a sync.
    .target(
      name: "SessionChanges",
      dependencies: ["SessionChangeQueue", "SessionKit", "SessionCore", "SessionJournal"],
      swiftSettings: strict),

    // Several accounts: their list, and a session for each.
    .target(
      name: "SessionAccounts", dependencies: ["SessionKit", "SessionCore", "SessionJournal"],
      swiftSettings: strict),

    // Sign-in on a page of an identity provider.
    .target(
      name: "SessionWebSignIn",
      dependencies: ["SessionKit", "SessionHTTP", "SessionCore", "SessionJSON"],
      swiftSettings: strict),

    // Texts for users in three languages, and advice.
    .target(
      name: "SessionMessages", dependencies: ["SessionKit", "SessionCore"], swiftSettings: strict),

    // Why a session ended, from its records, and records without names. No Foundation.
    .target(
      name: "SessionExplain", dependencies: ["SessionCore", "SessionJSON"], swiftSettings: strict),

    // A loopback server, a manual clock: what a test imports.
    .target(
      name: "SessionTestKit",
      dependencies: ["SessionKit", "SessionHTTP", "SessionCore", "SessionJournal", "SessionJSON"],
      swiftSettings: strict),

    // Scenarios, runs of a coordinator, an identity provider: what only this package's tests import.
    .target(
      name: "SessionTestSupport",
      dependencies: [
        "SessionTestKit", "SessionKit", "SessionHTTP", "SessionChanges", "SessionWebSignIn",
        "SessionMessages",
        "SessionCore", "SessionJournal", "SessionJSON",
      ],
      swiftSettings: strict),

    // The debugger: a thin main, and everything testable beside it.
    .target(
      name: "ReplayCommands",
      dependencies: [
        "SessionCore", "SessionChangeQueue", "SessionJournal", "SessionExplain", "SessionJSON",
      ],
      path: "Tools/ReplayCommands", swiftSettings: strict),
    .executableTarget(
      name: "sessionreplay", dependencies: ["ReplayCommands"], path: "Tools/sessionreplay",
      swiftSettings: strict),
    .executableTarget(
      name: "sessiondemo",
      dependencies: [
        "SessionKit", "SessionHTTP", "SessionTestKit", "SessionJournal", "ReplayCommands",
      ],
      path: "Tools/sessiondemo", swiftSettings: strict),
    // One process of a test: a session that is driven by lines.
    .executableTarget(
      name: "sessionworker",
      dependencies: ["SessionKit", "SessionHTTP", "SessionChanges", "SessionCore"],
      path: "Tools/sessionworker", swiftSettings: strict),

    // One side of a sign-in in a real browser: a provider on loopback and a session.
    .executableTarget(
      name: "signinhost",
      dependencies: [
        "SessionKit", "SessionHTTP", "SessionWebSignIn", "SessionTestSupport", "SessionCore",
      ],
      path: "Tools/signinhost", swiftSettings: strict),

    // Programs that tests start.
    .target(name: "CProcess", path: "Tests/CProcess"),
    .target(
      name: "ChildProcesses", dependencies: ["CProcess"], path: "Tests/ChildProcesses",
      swiftSettings: strict),
    .testTarget(
      name: "SessionCoreTests",
      dependencies: [
        "SessionCore", "SessionChangeQueue", "SessionWebSignIn", "SessionTestKit", "ChildProcesses",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SessionJournalTests", dependencies: ["SessionJournal", "ChildProcesses"],
      swiftSettings: strict),
    .testTarget(
      name: "JournalPropertyTests",
      dependencies: ["SessionTestKit", "SessionJournal", "ChildProcesses"],
      swiftSettings: strict),
    .testTarget(
      name: "SessionKitTests",
      dependencies: [
        "SessionKit", "SessionHTTP", "SessionChangeQueue", "SessionChanges", "SessionWebSignIn",
        "SessionMessages", "SessionAccounts",
        "SessionTestKit",
        "SessionTestSupport", "SessionCore", "SessionJournal", "SessionJSON",
        "ChildProcesses",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SessionTestKitTests",
      dependencies: [
        "SessionTestKit", "SessionTestSupport", "SessionKit", "SessionHTTP",
        "SessionCore",
        "ReplayCommands", "ChildProcesses",
      ],
      swiftSettings: strict),
    // What Specs/PropertyTesting.md shows, compiled as its readers do: with plain imports, and
    // without what a package keeps to itself.
    .testTarget(
      name: "PropertyPageTests",
      dependencies: [
        "SessionTestKit", "SessionKit", "SessionHTTP", "SessionCore",
      ],
      packageAccess: false, swiftSettings: strict),
    .testTarget(
      name: "SessionPropertyTests",
      dependencies: [
        "SessionTestKit", "SessionTestSupport", "SessionCore",
        "SessionChangeQueue", "SessionJournal",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ReplayCommandsTests",
      dependencies: [
        "ReplayCommands", "SessionCore", "SessionChangeQueue", "SessionJournal", "SessionKit",
        "SessionHTTP",
        "SessionExplain", "SessionJSON", "SessionTestKit", "SessionTestSupport",
        "ChildProcesses", "sessionreplay",
      ],
      swiftSettings: strict),
    // The files of Specs/Scenarios, played in a simulated world and over real sockets.
    .testTarget(
      name: "ScenarioTests", dependencies: ["SessionTestKit", "SessionTestSupport"],
      swiftSettings: strict),
    // Real processes on one journal: the worker, stopped and killed.
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "SessionKit", "SessionHTTP", "SessionChanges", "SessionTestKit", "SessionCore",
        "SessionJournal",
        "ChildProcesses", "sessionworker", "ReplayCommands",
      ],
      swiftSettings: strict),
    // The journals of Specs/Journals: each written by a real run, each with its answer.
    .testTarget(
      name: "RecordedJournalTests",
      dependencies: [
        "ReplayCommands", "SessionKit", "SessionHTTP", "SessionTestKit",
        "SessionCore",
        "SessionJournal", "SessionExplain", "SessionJSON",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SourceLayoutTests", exclude: ["words.txt"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
