// swift-tools-version: 6.2
import PackageDescription

// What uses the library as an app does and shares one build of it: examples, benchmarks, and the maker of a
// fleet. ServerAdapters and PostgresLog are packages of their own, since this one would not build without swift-nio
// and libpq. Fuzz is one, since its sanitizers and entry points need a build of their own.

/// The same settings as in the root package.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Products of the library.
func library(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "session-journal") }
}

/// A program as an app's developer writes it, with products and public names only.
///
/// examples/run builds and runs it.
func example(_ name: String, _ products: [Target.Dependency] = []) -> Target {
  .executableTarget(
    name: name, dependencies: ["Backend"] + library("SessionKit", "SessionHTTP") + products,
    path: "examples/Sources/\(name)", swiftSettings: strict)
}

let package = Package(
  name: "session-journal-tools",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The package has an explicit name, so that a clone may be in a folder of any name.
    .package(name: "session-journal", path: ".."),
    // What the benchmarks compare with.
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    // A small HTTP server on loopback, in place of the app's server.
    .target(name: "Backend", path: "examples/Sources/Backend", swiftSettings: strict),
    example("todo", library("SessionAccounts", "SessionChanges")),
    example("daemon", library("sessionreplay")),
    example("migrate"),
    example("notes", library("SessionWebSignIn")),
    example("viewmodel"),
    example("insight", library("SessionExplain", "SessionMessages")),
    .testTarget(
      name: "ViewModelTests", dependencies: ["viewmodel"] + library("SessionKit", "SessionTestKit"),
      path: "examples/Tests/ViewModelTests", swiftSettings: strict),

    .executableTarget(
      name: "makefleet", dependencies: library("SessionCore", "SessionJournal"),
      path: "fleet/Sources/makefleet", swiftSettings: strict),

    // Functions that only C can reach: LevelDB, if it is installed, and the time spent in syncs.
    .target(name: "CPeers", path: "Benchmarks/Sources/CPeers"),
    .executableTarget(
      name: "benchmarks",
      dependencies: ["CPeers"]
        + library(
          "SessionCore", "SessionJournal", "SessionKit", "SessionHTTP", "SessionTestKit")
        + [.product(name: "GRDB", package: "GRDB.swift")],
      path: "Benchmarks/Sources/benchmarks", swiftSettings: strict),
    // Two short programs that the benchmarks start.
    .executableTarget(
      name: "launchsession", dependencies: library("SessionKit", "SessionHTTP"),
      path: "Benchmarks/Sources/launchsession", swiftSettings: strict),
    .executableTarget(
      name: "launchfile", path: "Benchmarks/Sources/launchfile", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
