// swift-tools-version: 6.2
import PackageDescription

// Five programs as an app's developer writes them, with products and public names only. ./run
// builds and runs them. ./cost measures what the library costs a program that depends on it.

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A product of the library.
func library(_ name: String) -> Target.Dependency {
  .product(name: name, package: "session-journal")
}

let package = Package(
  name: "session-journal-examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "session-journal", path: "../..")
  ],
  targets: [
    // A small HTTP server on loopback, in place of the app's server.
    .target(name: "Backend", swiftSettings: strict),

    .executableTarget(
      name: "todo",
      dependencies: [
        "Backend", library("SessionKit"), library("SessionHTTP"), library("SessionChanges"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "daemon",
      dependencies: [
        "Backend", library("SessionKit"), library("SessionHTTP"), library("sessionreplay"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "migrate",
      dependencies: ["Backend", library("SessionKit"), library("SessionHTTP")],
      swiftSettings: strict),
    .executableTarget(
      name: "viewmodel",
      dependencies: ["Backend", library("SessionKit"), library("SessionHTTP")],
      swiftSettings: strict),
    .executableTarget(
      name: "insight",
      dependencies: [
        "Backend", library("SessionKit"), library("SessionHTTP"), library("SessionExplain"),
        library("SessionMessages"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ViewModelTests",
      dependencies: [
        "viewmodel", library("SessionKit"), library("SessionTestKit"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
