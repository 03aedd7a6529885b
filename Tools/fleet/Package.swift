// swift-tools-version: 6.2
import PackageDescription

/// The same settings as in the root package.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "fleet",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The package has an explicit name, so that a clone may be in a folder of any name.
    .package(name: "session-journal", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "makefleet",
      dependencies: [
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionJournal", package: "session-journal"),
      ],
      swiftSettings: strict)
  ],
  swiftLanguageModes: [.v6]
)
